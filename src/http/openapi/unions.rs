//! Unions whose tag decides which fields are present, as one flat object each.
//!
//! Many generators turn `oneOf` into empty or ambiguous classes. A flat object has all fields of all alternatives; a table lists the fields
//! of each tag. An unknown tag is an object as well.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::openapi::{Object, RefOr, Schema, Type, schema::SchemaType};

use super::words;

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Makes every union and every composition of the schemas flat. `sent` are the schemas of request bodies: their tags have no other
/// values, because the server refuses them.
pub(super) fn flatten(schemas: &mut Schemas, sent: &BTreeSet<String>) {
    spread_shared_fields(schemas);
    merge_compositions(schemas);
    for (name, schema) in schemas.iter_mut() {
        let RefOr::T(Schema::OneOf(choice)) = schema else { continue };
        let alternatives: Option<Vec<_>> = choice.items.iter().map(Alternative::of).collect();
        let Some(alternatives) = alternatives.filter(|alternatives| !alternatives.is_empty()) else { continue };
        let description = choice.description.take().unwrap_or_default();
        *schema = flat(&description, &alternatives, sent.contains(name)).into();
    }
}

/// Copies the fields that all alternatives of a choice share into each alternative. The derived document has the choice and
/// the shared fields side by side.
fn spread_shared_fields(schemas: &mut Schemas) {
    let parts = |schema: &RefOr<Schema>| match schema {
        RefOr::T(Schema::AllOf(whole)) => match whole.items.as_slice() {
            [RefOr::Ref(choice), RefOr::T(Schema::Object(shared))] => {
                let name = choice.ref_location.rsplit('/').next().unwrap_or_default();
                Some((name.to_owned(), shared.clone(), whole.description.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    let wholes: Vec<_> = schemas.iter().filter_map(|(name, schema)| Some((name.clone(), parts(schema)?))).collect();
    // A whole may be the choice of a later whole.
    let names: Vec<_> = wholes.iter().map(|(name, _)| name.clone()).collect();
    for (name, (choice, shared, description)) in wholes {
        let Some(RefOr::T(Schema::OneOf(alternatives))) = schemas.get(&choice) else { continue };
        let mut alternatives = alternatives.clone();
        alternatives.description = description;
        for item in &mut alternatives.items {
            if let RefOr::T(Schema::Object(alternative)) = item {
                alternative.properties.extend(shared.properties.clone());
                alternative.required.extend(shared.required.clone());
            }
        }
        if !names.contains(&choice) {
            schemas.remove(&choice);
        }
        schemas.insert(name, RefOr::T(Schema::OneOf(alternatives)));
    }
}

/// Makes one object of an object that extends another.
fn merge_compositions(schemas: &mut Schemas) {
    let objects = schemas.clone();
    for schema in schemas.values_mut() {
        let RefOr::T(Schema::AllOf(whole)) = schema else { continue };
        let part = |item: &RefOr<Schema>| match item {
            RefOr::T(Schema::Object(object)) => Some(object.clone()),
            RefOr::T(_) => None,
            RefOr::Ref(reference) => match objects.get(reference.ref_location.rsplit('/').next()?) {
                Some(RefOr::T(Schema::Object(object))) => Some(object.clone()),
                _ => None,
            },
        };
        let parts: Option<Vec<_>> = whole.items.iter().map(part).collect();
        let Some(parts) = parts else { continue };
        let mut merged = Object::with_type(SchemaType::from(Type::Object));
        merged.description = whole.description.take();
        for part in parts {
            merged.properties.extend(part.properties);
            merged.required.extend(part.required);
        }
        *schema = merged.into();
    }
}

/// An alternative of a union.
struct Alternative {
    tag: String,
    word: String,
    object: Object,
}

impl Alternative {
    fn of(item: &RefOr<Schema>) -> Option<Self> {
        let RefOr::T(Schema::Object(object)) = item else { return None };
        let (tag, word) = object.properties.iter().find_map(|(name, property)| {
            let RefOr::T(Schema::Object(property)) = property else { return None };
            match property.enum_values.as_deref() {
                Some([Value::String(word)]) => Some((name.clone(), word.clone())),
                _ => None,
            }
        })?;
        Some(Self { tag, word, object: object.clone() })
    }

    fn requires(&self, field: &str) -> bool {
        self.object.required.iter().any(|required| required == field)
    }
}

/// The object with the fields of all alternatives.
fn flat(description: &str, alternatives: &[Alternative], is_sent: bool) -> Object {
    let tag = alternatives.first().map(|alternative| alternative.tag.clone()).unwrap_or_default();
    let names: BTreeSet<_> = alternatives.iter().flat_map(|alternative| alternative.object.properties.keys()).collect();
    let mut object = Object::with_type(SchemaType::from(Type::Object));
    let mut shared = BTreeSet::new();
    for name in names {
        if alternatives.iter().all(|alternative| alternative.object.properties.contains_key(name)) {
            shared.insert(name.as_str());
        }
        if alternatives.iter().all(|alternative| alternative.requires(name)) {
            object.required.push(name.clone());
        }
        if *name == tag {
            let words: Vec<_> = alternatives.iter().map(|alternative| alternative.word.clone()).collect();
            let mut property =
                if is_sent { Object::with_type(SchemaType::from(Type::String)) } else { words::one_of(words.clone()) };
            if is_sent {
                property.enum_values = Some(words.into_iter().map(Value::String).collect());
            }
            object.properties.insert(name.clone(), property.into());
        } else {
            object.properties.insert(name.clone(), merged(name, alternatives));
        }
    }
    object.description = Some(format!("{description}\n\n{}", table(&tag, alternatives, &shared)));
    object
}

/// The schema of a field, which is the same in all alternatives that have it, but for its description and example.
fn merged(name: &str, alternatives: &[Alternative]) -> RefOr<Schema> {
    let having: Vec<_> = alternatives
        .iter()
        .filter_map(|alternative| Some((alternative.word.as_str(), alternative.object.properties.get(name)?)))
        .collect();
    let mut schemas = having.iter().map(|(_, schema)| (*schema).clone());
    let mut schema = schemas.next().expect("some alternative has the field");
    for other in schemas {
        assert_eq!(kind(&schema), kind(&other), "alternatives have different fields of the name {name}");
    }
    let is_shared = having.len() == alternatives.len();
    let descriptions: BTreeSet<_> = having.iter().map(|(_, schema)| described(schema)).collect();
    let of = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let all: Vec<_> = having.iter().map(|(word, _)| *word).collect();
    let text = match (descriptions.len(), descriptions.first().cloned().flatten()) {
        (1, text) if is_shared => text,
        (1, Some(text)) => Some(format!("For {}: {text}", of(&all))),
        (1, None) => Some(format!("Only for {}.", of(&all))),
        _ => {
            let own = having.iter().filter_map(|(word, schema)| Some(format!("For `{word}`: {}", described(schema)?)));
            Some([vec![format!("Only for {}.", of(&all))], own.collect()].concat().join(" "))
        }
    };
    // A client would send the default with every tag, and the server refuses fields of another one.
    let default = match &mut schema {
        RefOr::T(Schema::Object(object)) if !is_shared => object.default.take(),
        _ => None,
    };
    let otherwise = default.map(|value| format!("Unless given: {value}."));
    let text = text.into_iter().chain(otherwise).collect::<Vec<_>>().join(" ");
    describe(&mut schema, Some(text).filter(|text| !text.is_empty()));
    schema
}

/// A schema without its description and example.
fn kind(schema: &RefOr<Schema>) -> Value {
    let mut json = serde_json::to_value(schema).expect("a schema is JSON");
    if let Some(fields) = json.as_object_mut() {
        fields.remove("description");
        fields.remove("example");
    }
    json
}

fn described(schema: &RefOr<Schema>) -> Option<String> {
    let json = serde_json::to_value(schema).expect("a schema is JSON");
    json["description"].as_str().map(str::to_owned)
}

fn describe(schema: &mut RefOr<Schema>, text: Option<String>) {
    match schema {
        RefOr::Ref(reference) => reference.description = text.unwrap_or_default(),
        RefOr::T(Schema::Object(object)) => object.description = text,
        RefOr::T(Schema::Array(array)) => array.description = text,
        RefOr::T(_) => {}
    }
}

/// A table of the fields that each tag has beside the shared ones.
fn table(tag: &str, alternatives: &[Alternative], shared: &BTreeSet<&str>) -> String {
    let rows = alternatives.iter().map(|alternative| {
        let own = alternative.object.properties.keys().filter(|name| !shared.contains(name.as_str()));
        let fields =
            own.map(|name| if alternative.requires(name) { format!("`{name}`") } else { format!("maybe `{name}`") });
        let fields = fields.collect::<Vec<_>>().join(", ");
        let about = alternative.object.description.as_deref().unwrap_or_default().replace('\n', " ");
        format!("| `{}` | {fields} | {about} |", alternative.word)
    });
    let head = [format!("| `{tag}` | fields | |"), "| --- | --- | --- |".to_owned()];
    head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
