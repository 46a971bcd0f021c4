//! When the devices of the caller are silent, and whether they collect.

use actix_web::{HttpRequest, HttpResponse, get, put, web::Data};
use mancala_db::push::settings::{self, PushSettings, QuietHours, Stored};
use mancala_http::{
    answer::{
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{Body, NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest name of a time zone: twice as long as those that there are.
const TIME_ZONE_BYTES_MAX: usize = 64;

/// The further calls that quiet hours cost of the rate limit: PostgreSQL reads all its time zones to find one.
const TIME_ZONE_CALLS: u32 = 4;

/// The shortest and the longest time of a digest, in minutes.
const DIGEST_MINUTES_MIN: i16 = 5;
const DIGEST_MINUTES_MAX: i16 = 24 * 60;

/// Get the settings of the caller's devices
#[utoipa::path(
    tag = "push",
    operation_id = "get_push_settings",
    responses((status = 200, description = "The settings", body = PushSettingsView)),
    security(("bearer" = []))
)]
#[get("/me/push-settings")]
pub async fn get_push_settings(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let found = settings::find(&state.db, caller.player).await?;
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(PushSettingsView::of(&found)))
}

/// Replace the settings of the caller's devices
///
/// The settings hold for all devices of the caller. A setting that is left out is off. For the rate limit, quiet hours count as
/// five calls.
#[utoipa::path(
    tag = "push",
    operation_id = "write_push_settings",
    request_body(content = WritePushSettings, examples(
        ("quiet nights" = (value = json!({"quiet_hours": {"from": "22:00", "until": "07:30", "time_zone": "Europe/Berlin"}}))),
        ("once an hour" = (value = json!({"digest_minutes": 60}))),
        ("neither" = (value = json!({}))),
    )),
    responses((status = 200, description = "The settings", body = PushSettingsView)),
    security(("bearer" = []))
)]
#[put("/me/push-settings")]
pub async fn write_push_settings(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<WritePushSettings>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let wanted = body.0.settings()?;
    player::find(&state, caller).await?;
    if wanted.quiet.is_some() {
        limits::count_more(&request, TIME_ZONE_CALLS)?;
    }
    match settings::store(&state.db, caller.player, &wanted, caller.credentials_version).await? {
        Stored::Yes => {}
        Stored::NoTimeZone => return Err(no_time_zone()),
        Stored::NoPlayer => return Err(player::gone()),
    }
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(PushSettingsView::of(&wanted)))
}

fn no_time_zone() -> Problem {
    let detail = "a time zone is named as IANA does, such as Europe/Berlin or UTC";
    Problem::invalid_as("wrong_format", "/quiet_hours/time_zone", detail)
}

/// The settings to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WritePushSettings {
    /// When nothing is shown. What waits is shown when they end.
    #[serde(default)]
    quiet_hours: Option<QuietHoursBody>,
    /// At most one notification in so many minutes, for all games that have something new by then.
    #[serde(default)]
    #[schema(minimum = 5, maximum = 1440)]
    digest_minutes: Option<i16>,
}

impl WritePushSettings {
    fn settings(self) -> Result<PushSettings, Problem> {
        let allowed = DIGEST_MINUTES_MIN..=DIGEST_MINUTES_MAX;
        if self.digest_minutes.is_some_and(|minutes| !allowed.contains(&minutes)) {
            let detail = format!("a digest comes every {DIGEST_MINUTES_MIN} to {DIGEST_MINUTES_MAX} minutes");
            return Err(Problem::invalid_as("out_of_range", "/digest_minutes", detail));
        }
        let quiet = self.quiet_hours.map(QuietHoursBody::hours).transpose()?;
        Ok(PushSettings { quiet, digest_minutes: self.digest_minutes })
    }
}

/// Hours of the day.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WriteQuietHours)]
struct QuietHoursBody {
    /// When they begin.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "22:00")]
    from: String,
    /// When they end: on the next day if it is before `from`.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "07:30")]
    until: String,
    /// Where, by a name of IANA. Its clocks may change.
    #[schema(max_length = 64, example = "Europe/Berlin")]
    time_zone: String,
}

impl QuietHoursBody {
    fn hours(self) -> Result<QuietHours, Problem> {
        let minute = |field: &str, text: &str| {
            minute_of(text).ok_or_else(|| {
                Problem::invalid_as("wrong_format", format!("/quiet_hours/{field}"), "a time looks like 22:00")
            })
        };
        let (from, until) = (minute("from", &self.from)?, minute("until", &self.until)?);
        if from == until {
            return Err(Problem::invalid("/quiet_hours/until", "quiet hours end at another time than they begin"));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
        if self.time_zone.len() > TIME_ZONE_BYTES_MAX || !self.time_zone.bytes().all(is_name) {
            return Err(no_time_zone());
        }
        Ok(QuietHours { from, until, time_zone: self.time_zone })
    }
}

/// The minute of the day of a time such as 07:30.
fn minute_of(text: &str) -> Option<i16> {
    let (hour, minute) = text.split_once(':').filter(|_| text.len() == 5)?;
    let number = |digits: &str, below: i16| {
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i16>().ok().filter(|number| is_plain && *number < below)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

/// The settings of a player's devices.
#[derive(Serialize, ToSchema)]
#[schema(as = PushSettings)]
pub struct PushSettingsView {
    /// When nothing is shown; null: never.
    #[schema(required = true)]
    quiet_hours: Option<QuietHoursView>,
    /// At most one notification in so many minutes; null: each when it comes.
    #[schema(required = true, example = 60)]
    digest_minutes: Option<i16>,
}

/// Hours of the day.
#[derive(Serialize, ToSchema)]
#[schema(as = QuietHours)]
struct QuietHoursView {
    #[schema(example = "22:00")]
    from: String,
    #[schema(example = "07:30")]
    until: String,
    #[schema(example = "Europe/Berlin")]
    time_zone: String,
}

impl PushSettingsView {
    pub fn of(settings: &PushSettings) -> Self {
        let time = |minute: i16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let quiet_hours = settings.quiet.as_ref().map(|quiet| QuietHoursView {
            from: time(quiet.from),
            until: time(quiet.until),
            time_zone: quiet.time_zone.clone(),
        });
        Self { quiet_hours, digest_minutes: settings.digest_minutes }
    }
}
