//! The places of positions with few seeds in a table: a number for each way to lay them in two rows. Knows no rule.

/// The most seeds in pits for which a table can be made: the numbers are computed up to here.
pub(crate) const SEEDS_MAX: u8 = 31;

/// The most pits a side.
const PITS_MAX: usize = 7;

/// A one in every byte. Each byte of a product with it is the sum of that byte of the other factor and of those below.
const ONES: u64 = u64::MAX / 255;

/// Numbers the positions of two rows with at most so many seeds. Positions with fewer seeds come first, then those with
/// fewer of them in the row that has fewer. Then the ranks of this row and of the other one decide. Two rows of
/// different totals are neighbours with either side to move. So most moves lead to numbers as close to each other as
/// those of the rows. A table is made in a third of the time.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    seeds_max: u8,
    /// The number of rows with each number of seeds.
    counts: Vec<usize>,
    /// By all seeds, and those of the row that has fewer: the number of the first such position.
    starts: Vec<[u32; SEEDS_MAX as usize + 1]>,
    /// By pit and by the seeds up to it: the summand for the rank of a row.
    summands: [[u32; SEEDS_MAX as usize + 1]; PITS_MAX - 1],
    /// How many positions there are.
    len: usize,
}

impl Index {
    /// The numbers for `pits` pits a side, with as many seeds as `seeds_max` and `len_max` positions allow.
    pub fn new(pits: u8, seeds_max: u8, len_max: usize) -> Self {
        let pits = usize::from(pits).clamp(1, PITS_MAX);
        let choose = |of: usize, count: usize| (0..count).fold(1, |product, i| product * (of - i) / (i + 1));
        let fits = |&seeds: &u8| choose(usize::from(seeds) + 2 * pits, 2 * pits) <= len_max;
        let seeds_max = (0..=seeds_max.min(SEEDS_MAX)).take_while(fits).last().unwrap_or(0);
        let counts: Vec<_> = (0..=usize::from(seeds_max)).map(|seeds| choose(seeds + pits - 1, pits - 1)).collect();
        let (mut starts, mut len) = (Vec::new(), 0);
        for seeds in 0..counts.len() {
            let mut by_fewer = [0; SEEDS_MAX as usize + 1];
            for (fewer, start) in by_fewer.iter_mut().enumerate().take(seeds / 2 + 1) {
                *start = u32::try_from(len).unwrap_or(u32::MAX);
                let pairs: usize = counts[fewer] * counts[seeds - fewer];
                len += if 2 * fewer == seeds { pairs } else { 2 * pairs };
            }
            starts.push(by_fewer);
        }
        let mut summands = [[0; SEEDS_MAX as usize + 1]; PITS_MAX - 1];
        for (pit, by_seeds) in summands.iter_mut().enumerate().take(pits - 1) {
            for (seeds, summand) in by_seeds.iter_mut().enumerate() {
                *summand = u32::try_from(choose(seeds + pit, pit + 1)).unwrap_or(u32::MAX);
            }
        }
        Self { seeds_max, counts, starts, summands, len }
    }

    /// The most seeds in pits.
    pub fn seeds_max(&self) -> u8 {
        self.seeds_max
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of positions with `seeds` seeds.
    #[inline]
    pub fn count(&self, seeds: u8) -> usize {
        let next = self.starts.get(usize::from(seeds) + 1).map_or(self.len, |starts| starts[0] as usize);
        next - self.first(seeds)
    }

    /// The number of the first position with `seeds` seeds.
    #[inline]
    pub fn first(&self, seeds: u8) -> usize {
        self.starts[usize::from(seeds)][0] as usize
    }

    /// The number of a position; `None` if it has too many seeds.
    #[inline]
    pub fn place(&self, rows: [u64; 2]) -> Option<usize> {
        let sums = rows.map(|row| row.wrapping_mul(ONES));
        let total = |sums: u64| usize::from(sums.to_le_bytes()[7]);
        let [own, other] = sums.map(total);
        let starts = self.starts.get(own + other)?;
        let is_own_fewer = own <= other;
        let (fewer, first, second) = if is_own_fewer { (own, sums[0], sums[1]) } else { (other, sums[1], sums[0]) };
        let pair = self.rank(first) * self.counts[own.max(other)] + self.rank(second);
        let place = if own == other { pair } else { 2 * pair + usize::from(!is_own_fewer) };
        Some(starts[fewer % starts.len()] as usize + place)
    }

    /// The rank of a row among those of as many seeds, by the sums of its pits up to each. It is less if any of those sums
    /// is less and none is more.
    #[inline]
    fn rank(&self, sums: u64) -> usize {
        let bytes = sums.to_le_bytes();
        let summand = |(by_seeds, sum): (&[u32; SEEDS_MAX as usize + 1], &u8)| by_seeds[usize::from(sum & SEEDS_MAX)];
        self.summands.iter().zip(&bytes).map(summand).sum::<u32>() as usize
    }

    /// All rows with `seeds` seeds, by rank.
    pub fn rows(&self, pits: u8, seeds: u8) -> Vec<u64> {
        let mut rows = vec![0; self.counts[usize::from(seeds)]];
        // The last pit has what the others leave.
        let mut open = vec![(0_u64, 0_u8, seeds)];
        while let Some((row, pit, left)) = open.pop() {
            if pit + 1 == pits {
                let row = row | u64::from(left) << (8 * pit);
                let rank = self.rank(row.wrapping_mul(ONES));
                rows[rank] = row;
            } else {
                open.extend((0..=left).map(|here| (row | u64::from(here) << (8 * pit), pit + 1, left - here)));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_a_number_of_its_own() {
        for (pits, seeds_max) in [(1, 9), (2, 8), (3, 7), (6, 4), (7, 3)] {
            let index = Index::new(pits, seeds_max, usize::MAX);
            let mut positions = vec![0; index.len()];
            for seeds in 0..=seeds_max {
                let before: usize = positions.iter().sum();
                for own in 0..=seeds {
                    for first in index.rows(pits, own) {
                        for second in index.rows(pits, seeds - own) {
                            positions[index.place([first, second]).expect("it has few enough seeds")] += 1;
                        }
                    }
                }
                let after: usize = positions.iter().sum();
                assert!(positions[..after].iter().all(|&count| count == 1), "{pits} {seeds}: {before} to {after}");
            }
            assert_eq!(positions.len(), positions.iter().sum());
            assert_eq!(index.place([u64::from(seeds_max) + 1, 0]), None);
        }
    }

    #[test]
    fn a_table_has_as_many_seeds_as_fit() {
        // 24 things choose 12, and 25 choose 12.
        assert_eq!(Index::new(6, 31, 2_704_156).seeds_max(), 12);
        assert_eq!(Index::new(6, 31, 2_704_155).seeds_max(), 11);
        assert_eq!(Index::new(6, 4, 2_704_156).seeds_max(), 4);
    }
}
