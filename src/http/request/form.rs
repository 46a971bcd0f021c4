//! Bodies that are JSON or a form, as clients of OAuth send them.

use std::pin::Pin;

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::header, web::Bytes};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    extract::{check_plain, declares_json, parse, read},
    faults,
};
use crate::http::answer::problem::Problem;

/// The type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// A body that is a JSON object of strings, or a form with the same names.
#[derive(Debug)]
pub struct FormOrJson<T>(pub T);

impl<T: DeserializeOwned + ToSchema + 'static> FromRequest for FormOrJson<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = read(request, payload);
        let request = request.clone();
        Box::pin(async move {
            let bytes = bytes.await?;
            if !is_form(&request) {
                declares_json(&request)?;
                faults::note::<T>(&request, &bytes);
                return parse(&bytes).map(Self);
            }
            check_plain(&request)?;
            let json = Bytes::from(Value::Object(members(&bytes)?).to_string());
            faults::note::<T>(&request, &json);
            parse(&json).map(Self)
        })
    }
}

fn is_form(request: &HttpRequest) -> bool {
    let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = declared.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(FORM)
}

/// The fields of a form as the members of an object. None may be there twice (RFC 6749, section 3.2).
fn members(form: &[u8]) -> Result<Map<String, Value>, Problem> {
    let mut members = Map::new();
    for (name, value) in form_urlencoded::parse(form) {
        let pointer = format!("/{}", faults::pointer_token(&name));
        if members.insert(name.into_owned(), Value::String(value.into_owned())).is_some() {
            return Err(Problem::invalid_as("duplicate_field", pointer, "the field is there twice"));
        }
    }
    Ok(members)
}
