//! Bodies that are JSON or a form, as clients of OAuth send them.

use std::pin::Pin;

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::header, web::Bytes};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    body::{SHORT_BODY, read},
    extract::{check_plain, declares_json, parse},
    faults,
};
use crate::answer::{code::Code, problem::Problem};

/// The type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// A body of at most `MAX` bytes that is a JSON object of strings, or a form with the same names.
#[derive(Debug)]
pub struct FormOrJson<T, const MAX: usize>(pub T);

impl<T: DeserializeOwned + ToSchema + 'static, const MAX: usize> FromRequest for FormOrJson<T, MAX> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = read(request, payload, MAX);
        let request = request.clone();
        Box::pin(async move {
            let bytes = bytes.await;
            if !is_form(&request) {
                declares_json(&request)?;
                let bytes = bytes?;
                faults::note::<T>(&request, &bytes);
                return parse(&bytes).map(Self);
            }
            check_plain(&request)?;
            let json = Bytes::from(Value::Object(members(&bytes?)?).to_string());
            faults::note::<T>(&request, &json);
            parse(&json).map(Self)
        })
    }
}

/// A form that a page of this server sends.
#[derive(Debug)]
pub struct Form<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Form<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = read(request, payload, SHORT_BODY);
        let request = request.clone();
        Box::pin(async move {
            if !is_form(&request) {
                return Err(Problem::new(Code::UnsupportedMediaType, "a form is sent as a form"));
            }
            check_plain(&request)?;
            let form = serde_urlencoded::from_bytes(&bytes.await?);
            form.map(Self).map_err(|_| Problem::new(Code::MalformedRequest, "the form lacks a field or cannot be read"))
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
