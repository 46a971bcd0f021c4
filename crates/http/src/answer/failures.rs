//! The failures that an operation declares in the OpenAPI document.

use std::{collections::BTreeMap, marker::PhantomData};

use actix_web::http::StatusCode;
use utoipa::{
    IntoResponses,
    openapi::{Content, Ref, RefOr, Response, ResponseBuilder},
};

use super::{code::Code, problem::PROBLEM_JSON};

/// The failures of an operation: `Failures<NotFound>`, or `Failures<(NotSeated, NotFound)>`.
pub struct Failures<T>(PhantomData<T>);

/// A type that represents one code.
pub trait OneCode {
    const CODE: Code;
}

macro_rules! types {
    ($($code:ident)+) => {
        $(pub struct $code;

        impl OneCode for $code {
            const CODE: Code = Code::$code;
        })+
    };
}

// Codes that operations declare. Other codes follow from an operation's path and input.
types! {
    ValidationFailed Unauthenticated InvalidToken RefreshTokenReused InvalidCredentials SignInRefused
    RecentSignInRequired Forbidden NotSeated NotFound PayloadTooLarge NameTaken IdentityTaken LastWayIn
    SeatTaken OwnGame GameNotStarted GameOver NotYourTurn StalePly IllegalMove NoSuchOffer OfferPending
    OfferNotPossible TooManyGames TooManyOpenGames NoRecord GameNotOver TooManyAnalyses TooManyWebhooks
    PushNotOffered TooManyDevices TooManyNotes TooManyBlocks TooManyMutes TooManyFriends TooManyInvitations
    TooManyImports WebhookDisabled WebhookNotVerified EmailNotConfigured InvalidLink PreconditionFailed
    RateLimited Unavailable IssuerUnavailable
}

/// A code as a type, or a tuple of such types.
pub trait Codes {
    const CODES: &'static [Code];
}

impl<C: OneCode> Codes for C {
    const CODES: &'static [Code] = &[C::CODE];
}

macro_rules! tuples {
    ($($code:ident)+) => {
        impl<$($code: OneCode),+> Codes for ($($code,)+) {
            const CODES: &'static [Code] = &[$($code::CODE),+];
        }
    };
    ($($code:ident)+; $next:ident $($rest:ident)*) => {
        tuples!($($code)+);
        tuples!($($code)+ $next; $($rest)*);
    };
    ($($code:ident)+;) => {
        tuples!($($code)+);
    };
}

tuples!(A B; C D E F G H I J);

impl<T: Codes> IntoResponses for Failures<T> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        by_status(T::CODES)
    }
}

/// A response for each status that the codes have.
pub fn by_status(codes: &[Code]) -> BTreeMap<String, RefOr<Response>> {
    let of_status = |status| codes.iter().copied().filter(move |code| code.status() == status);
    let entry = |status: StatusCode| (status.as_str().to_owned(), RefOr::T(response(of_status(status))));
    codes.iter().map(|code| entry(code.status())).collect()
}

/// The response of a failure with one of these codes, which have one status. It has the one body of all failures, and an example of
/// each code.
pub fn response(codes: impl Iterator<Item = Code>) -> Response {
    let mut content = Content::new(Some(Ref::from_schema_name("Problem")));
    let mut meanings = vec![];
    for code in codes {
        let example = Ref::new(format!("#/components/examples/{}", code.as_str()));
        content.examples.insert(code.as_str().to_owned(), RefOr::Ref(example));
        meanings.push(format!("`{}`: {}", code.as_str(), code.title()));
    }
    ResponseBuilder::new().description(meanings.join("; ")).content(PROBLEM_JSON, content).build()
}

/// The codes of a response, in the order of [`Code::ALL`].
pub fn codes(response: &Response) -> impl Iterator<Item = Code> {
    let content = match response.content.get(PROBLEM_JSON) {
        Some(RefOr::T(content)) => Some(content),
        _ => None,
    };
    Code::ALL
        .iter()
        .copied()
        .filter(move |code| content.is_some_and(|content| content.examples.contains_key(code.as_str())))
}
