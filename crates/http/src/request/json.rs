//! JSON as it stands in a text, for comparisons. Reading it takes a third of what the values of `serde_json` take: most texts are
//! borrowed, objects are lists, and deep values are skipped.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// A value. An object keeps both of two fields with the same name.
#[derive(Debug)]
pub(super) enum Json<'a> {
    Null,
    Boolean,
    Integer(f64),
    Fraction(f64),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    /// A value that lies deeper than the caller reads.
    Deep,
}

impl<'a> Json<'a> {
    /// The value of a text, read to this depth; `None` if the text is no JSON.
    pub(super) fn read(text: &'a str, depth: usize) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let json = Reader { depth }.deserialize(&mut reader).ok()?;
        reader.end().ok().map(|()| json)
    }
}

/// Reads a value to a depth.
struct Reader {
    depth: usize,
}

impl<'a> DeserializeSeed<'a> for Reader {
    type Value = Json<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Json<'a>, D::Error> {
        if self.depth == 0 {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Json::Deep);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Reader {
    type Value = Json<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json<'a>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Json<'a>, E> {
        Ok(Json::Boolean)
    }

    // Numbers of more than 53 bits are beyond all bounds, also if they are rounded.
    #[expect(clippy::cast_precision_loss, reason = "the comment above")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Json<'a>, E> {
        Ok(Json::Integer(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "as above")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Json<'a>, E> {
        Ok(Json::Integer(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json<'a>, E> {
        Ok(Json::Fraction(value))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Json<'a>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json<'a>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Json<'a>, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element_seed(Reader { depth: self.depth - 1 })? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut fields: A) -> Result<Json<'a>, A::Error> {
        let mut object = vec![];
        while let Some(name) = fields.next_key_seed(Name)? {
            object.push((name, fields.next_value_seed(Reader { depth: self.depth - 1 })?));
        }
        Ok(Json::Object(object))
    }
}

/// Reads the name of a field.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Cow<'a, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Name {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'a str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_to_a_depth_and_only_if_it_is_json() {
        let read = |text: &'static str| format!("{:?}", Json::read(text, 2));
        assert_eq!(
            read(r#" {"a": [1, 2.5, {"b": 1}], "a": "x\n", "c": null, "d": true} "#),
            "Some(Object([(\"a\", List([Deep, Deep, Deep])), (\"a\", Text(\"x\\n\")), (\"c\", Null), (\"d\", Boolean)]))"
        );
        assert_eq!(read("[-1, 18446744073709551615]"), "Some(List([Integer(-1.0), Integer(1.8446744073709552e19)]))");
        for text in ["", "{", "[1] 2", r#"{"a": [[[}"#, "x"] {
            assert_eq!(read(text), "None", "{text}");
        }
    }
}
