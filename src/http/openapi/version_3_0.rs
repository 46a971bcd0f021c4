//! The document in OpenAPI 3.0.3, for generators that know no newer version.
//!
//! This version says the same in other words: `nullable` for `null` among the types, and `x-webhooks`, because 3.0 has no
//! webhooks. A body that may be JSON or text is JSON, because some generators take one form only.

use serde_json::{Map, Value, json};

/// Rewrites a document of OpenAPI 3.1.
pub fn downgrade(mut document: Value) -> Value {
    if let Some(parts) = document.as_object_mut() {
        parts.insert("openapi".to_owned(), json!("3.0.3"));
        if let Some(license) =
            parts.get_mut("info").and_then(|info| info.get_mut("license")).and_then(Value::as_object_mut)
        {
            license.remove("identifier");
        }
        if let Some(webhooks) = parts.remove("webhooks") {
            parts.insert("x-webhooks".to_owned(), webhooks);
        }
    }
    rewrite(&mut document);
    document
}

/// Fields whose content is data, and no schema.
const DATA: [&str; 5] = ["default", "enum", "example", "value", "x-extensible-enum"];

/// Rewrites the schemas in a part of a document. The depth is that of the document, which is not a client's.
fn rewrite(part: &mut Value) {
    match part {
        Value::Object(fields) => {
            fields.remove("propertyNames");
            use_example(fields);
            use_nullable_type(fields);
            use_nullable_choice(fields);
            wrap_reference(fields);
            for (name, value) in fields.iter_mut() {
                match value {
                    // The names of fields are no words of OpenAPI.
                    Value::Object(properties) if name == "properties" => properties.values_mut().for_each(rewrite),
                    Value::Object(forms) if name == "content" => {
                        keep_one(forms);
                        forms.values_mut().for_each(rewrite);
                    }
                    // 3.0 has bodies of DELETE ignored.
                    Value::Object(operation) if name == "delete" => {
                        operation.remove("requestBody");
                        rewrite(value);
                    }
                    Value::Object(answers) if name == "responses" => {
                        leave_out_streams(answers);
                        answers.values_mut().for_each(rewrite);
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    _ => rewrite(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        _ => {}
    }
}

/// Keeps one form of a body.
fn keep_one(forms: &mut Map<String, Value>) {
    const JSON: &str = "application/json";
    if forms.contains_key(JSON) {
        forms.retain(|form, _| form == JSON);
    }
}

/// Where there is a body, 204 is the answer to a stream, which is not JSON.
fn leave_out_streams(answers: &mut Map<String, Value>) {
    if answers.iter().any(|(status, answer)| status.starts_with('2') && answer.get("content").is_some()) {
        answers.remove("204");
    }
}

/// A list of examples of a schema becomes its first example. The examples of a body are a map, in 3.0 as well.
fn use_example(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(examples)) = fields.get_mut("examples") {
        let first = examples.first_mut().map(Value::take);
        fields.remove("examples");
        if let Some(first) = first {
            fields.insert("example".to_owned(), first);
        }
    }
}

/// `["string", "null"]` becomes a nullable `string`.
fn use_nullable_type(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get("type") {
        let other = types.iter().find(|word| *word != "null").cloned().unwrap_or_default();
        fields.insert("type".to_owned(), other);
        fields.insert("nullable".to_owned(), json!(true));
    }
}

/// A reference or null becomes a nullable reference.
fn use_nullable_choice(fields: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    let Some(Value::Array(choice)) = fields.get("oneOf") else { return };
    if let [reference, other] = choice.as_slice()
        && *other == null
        && let Some(reference) = reference.as_object().cloned()
    {
        fields.remove("oneOf");
        fields.extend(reference);
        fields.insert("nullable".to_owned(), json!(true));
    }
}

/// Beside a reference, 3.0 allows nothing.
fn wrap_reference(fields: &mut Map<String, Value>) {
    if fields.len() > 1
        && let Some(reference) = fields.remove("$ref")
    {
        fields.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_says_the_same_in_the_older_version() {
        for (newer, older) in [
            (
                json!({"type": ["string", "null"], "format": "uuid"}),
                json!({"type": "string", "nullable": true, "format": "uuid"}),
            ),
            (json!({"$ref": "#/x"}), json!({"$ref": "#/x"})),
            (json!({"$ref": "#/x", "description": "d"}), json!({"allOf": [{"$ref": "#/x"}], "description": "d"})),
            (
                json!({"oneOf": [{"$ref": "#/x", "description": "d"}, {"type": "null"}]}),
                json!({"allOf": [{"$ref": "#/x"}], "nullable": true, "description": "d"}),
            ),
            (json!({"examples": ["a", "b"]}), json!({"example": "a"})),
            (json!({"examples": {"a": {"value": {"type": []}}}}), json!({"examples": {"a": {"value": {"type": []}}}})),
            (
                json!({"properties": {"example": {"type": ["null", "string"]}}}),
                json!({"properties": {"example": {"type": "string", "nullable": true}}}),
            ),
            (
                json!({"content": {"text/plain": {}, "application/json": {"schema": {"type": ["null", "number"]}}}}),
                json!({"content": {"application/json": {"schema": {"type": "number", "nullable": true}}}}),
            ),
            (
                json!({"responses": {"200": {"content": {"image/svg+xml": {}}}, "204": {}}}),
                json!({"responses": {"200": {"content": {"image/svg+xml": {}}}}}),
            ),
            (json!({"responses": {"204": {}}}), json!({"responses": {"204": {}}})),
            (json!({"content": {"image/svg+xml": {}}}), json!({"content": {"image/svg+xml": {}}})),
            (json!({"delete": {"requestBody": {}, "tags": []}}), json!({"delete": {"tags": []}})),
            (json!({"propertyNames": {}, "additionalProperties": {}}), json!({"additionalProperties": {}})),
        ] {
            assert_eq!(downgrade(json!({"openapi": "3.1.0", "part": newer}))["part"], older);
        }
    }
}
