//! The schemas of types, compiled once into shapes that are cheap to compare with a body. Knows no body and no fault.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock, Mutex},
};

use mancala_wire::view::wire::ALWAYS_JSON;
use serde_json::Value;
use utoipa::ToSchema;

use super::json::Json;

/// The index of a shape.
pub(super) type ShapeId = usize;

/// The shapes of a type: the type's own is the first.
#[derive(Debug)]
pub(super) struct Shapes(Vec<Shape>);

/// The constraints of a schema on a value. An empty shape admits every value.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Alternatives. The shape says nothing else then.
    pub(super) union: Option<Union>,
    /// Further shapes that the value must have.
    pub(super) all_of: Vec<ShapeId>,
    pub(super) types: Option<Types>,
    pub(super) words: Option<Words>,
    pub(super) required: Vec<String>,
    pub(super) fields: BTreeMap<String, ShapeId>,
    pub(super) other_fields: OtherFields,
    pub(super) items: Option<ShapeId>,
    /// How many items a list has.
    pub(super) count: Option<Bounds>,
    /// How many characters a text has.
    pub(super) length: Option<Bounds>,
    pub(super) range: Option<Bounds>,
    pub(super) is_uuid: bool,
}

/// Several shapes, of which a value has one.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) branches: Vec<ShapeId>,
    /// The field that identifies the branch, such as `type` or `grant_type`, and the word of each branch.
    pub(super) tag: Option<(String, Words)>,
}

/// The types that a value may have.
#[derive(Debug)]
pub(super) struct Types {
    names: Vec<String>,
    pub(super) detail: String,
}

/// The texts that are accepted.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) texts: Vec<String>,
    pub(super) detail: String,
}

/// The treatment of fields that the shape does not name.
#[derive(Debug, Default)]
pub(super) enum OtherFields {
    #[default]
    Ignored,
    Refused,
    Shaped(ShapeId),
}

/// The bounds of a number, and their words.
#[derive(Debug)]
pub(super) struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
    pub(super) detail: String,
}

impl Shapes {
    /// The shapes of a type. They are compiled once in a process.
    pub(super) fn of<T: ToSchema + 'static>() -> Arc<Self> {
        static COMPILED: LazyLock<Mutex<HashMap<TypeId, Arc<Shapes>>>> = LazyLock::new(Mutex::default);
        let mut compiled = COMPILED.lock().expect("compiling a schema does not panic");
        compiled.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(Self::compile::<T>())).clone()
    }

    pub(super) const ROOT: ShapeId = 0;

    pub(super) fn get(&self, id: ShapeId) -> &Shape {
        &self.0[id]
    }

    fn compile<T: ToSchema>() -> Self {
        let mut named = vec![];
        T::schemas(&mut named);
        let json = |schema| serde_json::to_value(schema).expect(ALWAYS_JSON);
        let named = named.into_iter().map(|(name, schema)| (name, json(schema))).collect();
        let mut compiler = Compiler { named, ids: HashMap::new(), shapes: vec![] };
        compiler.compile(&json(T::schema()));
        Self(compiler.shapes)
    }
}

impl Types {
    pub(super) fn admit(&self, value: &Json<'_>) -> bool {
        self.names.iter().any(|name| match name.as_str() {
            "object" => matches!(value, Json::Object(_) | Json::Deep),
            "array" => matches!(value, Json::List(_) | Json::Deep),
            "string" => matches!(value, Json::Text(_) | Json::Deep),
            "boolean" => matches!(value, Json::Boolean | Json::Deep),
            "integer" => matches!(value, Json::Integer(_) | Json::Deep),
            "number" => matches!(value, Json::Integer(_) | Json::Fraction(_) | Json::Deep),
            "null" => matches!(value, Json::Null | Json::Deep),
            _ => true,
        })
    }
}

impl Words {
    fn of(words: &[Value]) -> Self {
        let texts: Vec<_> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Self { detail: format!("expected one of {}", texts.join(", ")), texts }
    }

    /// The index of a text among those that are accepted.
    pub(super) fn position(&self, value: &Json<'_>) -> Option<usize> {
        let Json::Text(text) = value else { return None };
        self.texts.iter().position(|word| word == text)
    }
}

impl Bounds {
    fn of(schema: &Value, keys: [&str; 2], unit: &str) -> Option<Self> {
        let detail = match keys.map(|key| &schema[key]) {
            [Value::Null, Value::Null] => return None,
            [Value::Null, most] => format!("at most {most} {unit}"),
            [least, Value::Null] => format!("at least {least} {unit}"),
            [least, most] => format!("from {least} to {most} {unit}"),
        };
        let [least, most] = keys.map(|key| schema[key].as_f64());
        Some(Self { least, most, detail: detail.trim_end().to_owned() })
    }

    pub(super) fn admit(&self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }

    pub(super) fn admit_count(&self, count: usize) -> bool {
        self.admit(u32::try_from(count).map_or(f64::INFINITY, f64::from))
    }
}

struct Compiler {
    /// The schemas to which others refer.
    named: HashMap<String, Value>,
    /// The shapes of those that have one already: a schema may refer to itself.
    ids: HashMap<String, ShapeId>,
    shapes: Vec<Shape>,
}

impl Compiler {
    fn compile(&mut self, schema: &Value) -> ShapeId {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        if let Some(known) = name.and_then(|name| self.ids.get(name)) {
            return *known;
        }
        let id = self.shapes.len();
        self.shapes.push(Shape::default());
        if let Some(name) = name {
            self.ids.insert(name.to_owned(), id);
        }
        let shape = self.shape(&self.resolved(schema));
        self.shapes[id] = shape;
        id
    }

    fn shape(&mut self, schema: &Value) -> Shape {
        if let Some(branches) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let resolved: Vec<_> = branches.iter().map(|branch| self.resolved(branch)).collect();
            let union = Union { branches: self.compile_all(branches), tag: tag_of(&resolved) };
            return Shape { union: Some(union), ..Shape::default() };
        }
        let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
        let further = &schema["additionalProperties"];
        Shape {
            union: None,
            all_of: self.compile_all(&list("allOf")),
            types: types(&schema["type"]),
            words: schema["enum"].as_array().map(|words| Words::of(words)),
            required: list("required").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            fields: schema["properties"].as_object().map_or_else(BTreeMap::new, |fields| {
                fields.iter().map(|(name, field)| (name.clone(), self.compile(field))).collect()
            }),
            other_fields: match further {
                Value::Bool(false) => OtherFields::Refused,
                Value::Object(_) => OtherFields::Shaped(self.compile(further)),
                _ => OtherFields::Ignored,
            },
            items: schema["items"].is_object().then(|| self.compile(&schema["items"])),
            count: Bounds::of(schema, ["minItems", "maxItems"], "items"),
            length: Bounds::of(schema, ["minLength", "maxLength"], "characters"),
            range: Bounds::of(schema, ["minimum", "maximum"], ""),
            is_uuid: schema["format"] == "uuid",
        }
    }

    fn compile_all(&mut self, schemas: &[Value]) -> Vec<ShapeId> {
        schemas.iter().map(|schema| self.compile(schema)).collect()
    }

    fn resolved(&self, schema: &Value) -> Value {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        name.and_then(|name| self.named.get(name)).unwrap_or(schema).clone()
    }
}

fn types(types: &Value) -> Option<Types> {
    let names: Vec<_> = match types {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return None,
    };
    Some(Types { detail: format!("expected {}", names.join(" or ")), names })
}

/// The field that identifies the branch of a union: each branch has one word for it.
fn tag_of(branches: &[Value]) -> Option<(String, Words)> {
    let word = |branch: &Value, name: &str| match branch["properties"][name]["enum"].as_array().map(Vec::as_slice) {
        Some([word]) => Some(word.clone()),
        _ => None,
    };
    let names = branches.first()?["properties"].as_object()?.keys();
    names.into_iter().find_map(|name| {
        let words: Option<Vec<_>> = branches.iter().map(|branch| word(branch, name)).collect();
        Some((name.clone(), Words::of(&words?)))
    })
}
