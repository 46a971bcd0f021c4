//! The faults of a request, collected so that one answer names all of them.

use super::{code::Code, problem::Problem};

/// The faults that the checks of a request have found so far.
#[derive(Debug, Default)]
pub struct Faults {
    found: Option<Problem>,
}

impl Faults {
    /// Adds the faults that a check found. A failure of another kind, such as one of the database, ends the checks.
    pub fn add(&mut self, problem: Problem) -> Result<(), Problem> {
        if problem.code() != Code::ValidationFailed {
            return Err(problem);
        }
        self.found = Some(match self.found.take() {
            Some(found) => found.with_faults(problem.into_faults()),
            None => problem,
        });
        Ok(())
    }

    /// The value that a check accepted. Otherwise `None`, and the check's faults are added.
    pub fn take<T>(&mut self, checked: Result<T, Problem>) -> Result<Option<T>, Problem> {
        match checked {
            Ok(value) => Ok(Some(value)),
            Err(problem) => self.add(problem).map(|()| None),
        }
    }

    /// The result of all checks together: the accepted value, or a refusal with all faults.
    pub fn unless_any<T>(self, checked: Option<T>) -> Result<T, Problem> {
        match (self.found, checked) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(value)) => Ok(value),
            (None, None) => Err(Problem::internal("a check accepted nothing and named no fault")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::field_error::FAULTS_MAX;

    #[test]
    fn faults_are_collected_and_bounded_and_other_failures_are_not() {
        assert_eq!(Faults::default().unless_any(Some(1)).expect("no fault"), 1);
        let mut faults = Faults::default();
        for n in 0..=FAULTS_MAX {
            let refused: Result<(), _> = Err(Problem::invalid(format!("/{n}"), "wrong"));
            assert!(faults.take(refused).expect("a fault").is_none(), "{n}");
        }
        assert_eq!(faults.add(Problem::internal("down")).expect_err("not a fault").code(), Code::Internal);
        let refusal = faults.unless_any(Some(1)).expect_err("faults");
        assert_eq!(refusal.to_string(), "validation_failed: /0: wrong");
        assert_eq!(refusal.into_faults().len(), FAULTS_MAX);
    }
}
