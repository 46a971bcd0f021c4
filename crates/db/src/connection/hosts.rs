//! URLs with several hosts, as libpq reads them: `postgres://user@h1:5432,h2:5433/name?target_session_attrs=primary`, or
//! `postgres:///name?host=h1,h2&port=5432,5433`. It opens no connection.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use thiserror::Error;

/// How many hosts a URL may name: more than a cluster has servers.
const HOSTS_MAX: usize = 16;

/// The parameters that the driver reads. It would log the values of all others, which may be passwords.
const PARAMETERS: [&str; 16] = [
    "application_name",
    "dbname",
    "hostaddr",
    "options",
    "password",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// Which of the hosts connections go to: `target_session_attrs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Any host that answers.
    Any,
    /// A host that is not a standby.
    Primary,
    /// A host that is not a standby, and that accepts writes.
    ReadWrite,
}

impl Target {
    pub(super) const fn accepts(self, is_standby: bool, is_read_only: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Primary => !is_standby,
            Self::ReadWrite => !is_standby && !is_read_only,
        }
    }
}

/// Why a URL is not accepted. The text never repeats the URL, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WrongUrl {
    /// The text is not a URL of a PostgreSQL.
    #[error("DATABASE_URL must look like postgres://user:password@host/name")]
    Form,
    /// A character of the password is not encoded. PostgreSQL's errors would name the rest of the password as a database.
    #[error("DATABASE_URL: the characters /, ?, # and % of a password must be written as %2F, %3F, %23 and %25")]
    Password,
    /// The URL names more hosts than are accepted.
    #[error("DATABASE_URL may name at most {HOSTS_MAX} hosts")]
    TooManyHosts,
    /// The URL names several ports, but not one for each host.
    #[error("DATABASE_URL must name one port, or one for each host")]
    Ports,
    /// The `target_session_attrs` are not supported: the server needs a host that takes writes.
    #[error("target_session_attrs in DATABASE_URL must be read-write, primary or any: the server writes")]
    Target,
}

/// The hosts of a URL, and the kind of host that it asks for.
#[derive(Debug)]
pub(super) struct Hosts {
    /// At least one.
    pub(super) options: Vec<PgConnectOptions>,
    pub(super) target: Target,
}

impl FromStr for Hosts {
    type Err = WrongUrl;

    fn from_str(url: &str) -> Result<Self, WrongUrl> {
        let (hosts, unknown) = Self::read(url)?;
        if unknown > 0 {
            tracing::warn!(count = unknown, "parameters of DATABASE_URL that the server does not know are ignored");
        }
        Ok(hosts)
    }
}

/// The database that a URL names, for the log: name, hosts and ports, without user, password and parameters.
pub fn describe(url: &str) -> Result<String, WrongUrl> {
    let (Hosts { options, .. }, _) = Hosts::read(url)?;
    let name = options[0].get_database().unwrap_or_else(|| options[0].get_username());
    let places: Vec<String> = options.iter().map(place).collect();
    Ok(format!("{name} at {}", places.join(", ")))
}

/// The host of a connection for the log: its name or socket folder, and its port.
pub(super) fn place(options: &PgConnectOptions) -> String {
    let host = options.get_socket().map_or_else(|| options.get_host().to_owned(), |s| s.display().to_string());
    format!("{host}:{}", options.get_port())
}

impl Hosts {
    /// Reads the hosts of a URL, and counts its unknown parameters.
    fn read(url: &str) -> Result<(Self, u32), WrongUrl> {
        let (scheme, rest) = url.split_once("://").ok_or(WrongUrl::Form)?;
        if !["postgres", "postgresql"].contains(&scheme) {
            return Err(WrongUrl::Form);
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let end = rest.find('/').unwrap_or(rest.len());
        let first = query.split(['=', '&']).next().unwrap_or_default();
        if rest[end..].contains('@') || first.contains('@') || url.contains('#') {
            return Err(WrongUrl::Password);
        }
        let (authority, path) = rest.split_at(end);
        let (user, hosts) = authority.rsplit_once('@').map_or((None, authority), |(user, hosts)| (Some(user), hosts));
        let user = user.map_or_else(String::new, |user| format!("{user}@"));
        let Query { others, hosts: more_hosts, ports, target, unknown } = Query::read(query)?;
        // As in libpq, parameters take precedence.
        let named: Vec<_> = more_hosts.map_or_else(|| hosts.split(',').collect(), |names| split(names).collect());
        let ports: Vec<_> = ports.map(|ports| split(ports).collect()).unwrap_or_default();
        if named.len() > HOSTS_MAX {
            return Err(WrongUrl::TooManyHosts);
        }
        if ports.len() > 1 && ports.len() != named.len() {
            return Err(WrongUrl::Ports);
        }
        let options = named.iter().enumerate().map(|(n, host)| {
            let mut parameters = others.clone();
            let authority = match more_hosts {
                // The authority has the port of a host that the parameters name.
                Some(_) => {
                    parameters.push(format!("host={host}"));
                    // A URL with a user must have a host, which the parameter replaces.
                    hosts.split(',').next().filter(|host| !host.is_empty()).unwrap_or("localhost")
                }
                None => host,
            };
            parameters.extend(ports.get(n).or(ports.first()).map(|port| format!("port={port}")));
            let parameters = parameters.join("&");
            let options = format!("{scheme}://{user}{authority}{path}?{parameters}").parse();
            options.map(without_brackets).map_err(|_| WrongUrl::Form)
        });
        let options = options.collect::<Result<Vec<_>, _>>()?;
        let default = if options.len() > 1 { Target::ReadWrite } else { Target::Primary };
        Ok((Self { options, target: target.unwrap_or(default) }, unknown))
    }
}

/// The parameters of a URL that concern hosts, and the others.
struct Query<'a> {
    others: Vec<String>,
    hosts: Option<&'a str>,
    ports: Option<&'a str>,
    target: Option<Target>,
    /// The number of unknown parameters.
    unknown: u32,
}

impl<'a> Query<'a> {
    fn read(query: &'a str) -> Result<Self, WrongUrl> {
        let mut read = Self { others: vec![], hosts: None, ports: None, target: None, unknown: 0 };
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("host", hosts)) => read.hosts = Some(hosts),
                Some(("port", ports)) => read.ports = Some(ports),
                Some(("target_session_attrs", word)) => {
                    read.target = Some(match word {
                        "any" => Target::Any,
                        "primary" => Target::Primary,
                        "read-write" => Target::ReadWrite,
                        _ => return Err(WrongUrl::Target),
                    });
                }
                Some((name, _)) if PARAMETERS.contains(&name) || name.starts_with("options[") => {
                    read.others.push(parameter.to_owned());
                }
                _ => read.unknown += 1,
            }
        }
        Ok(read)
    }
}

/// The options with an IPv6 address as the system knows it. In a URL it has brackets, which the driver passes on.
fn without_brackets(options: PgConnectOptions) -> PgConnectOptions {
    let address = options.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']')).map(str::to_owned);
    match address {
        Some(address) => options.host(&address),
        None => options,
    }
}

/// The values of a parameter, which are separated by commas, also encoded ones.
fn split(values: &str) -> impl Iterator<Item = &str> {
    values.split(',').flat_map(|part| part.split("%2C")).flat_map(|part| part.split("%2c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host and port of each host, and the target.
    fn read(url: &str) -> Result<(Vec<(String, u16)>, Target), WrongUrl> {
        let Hosts { options, target } = url.parse()?;
        let place = |options: &PgConnectOptions| {
            let host = options.get_socket().map_or_else(|| options.get_host().to_owned(), |s| s.display().to_string());
            (host, options.get_port())
        };
        Ok((options.iter().map(place).collect(), target))
    }

    fn at(places: &[(&str, u16)]) -> Vec<(String, u16)> {
        places.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect()
    }

    #[test]
    fn a_url_names_one_host_or_several() {
        for (url, places, target) in [
            ("postgres://u:p@h1/db", &[("h1", 5432)][..], Target::Primary),
            ("postgresql://h1:6000/db?target_session_attrs=any", &[("h1", 6000)], Target::Any),
            ("postgres://u:p%40x@h1:6000,h2:6001/db", &[("h1", 6000), ("h2", 6001)], Target::ReadWrite),
            ("postgres://h1,h2:6001,[::1]:7", &[("h1", 5432), ("h2", 6001), ("::1", 7)], Target::ReadWrite),
            (
                "postgres://h1,h2/db?sslmode=disable&target_session_attrs=primary",
                &[("h1", 5432), ("h2", 5432)],
                Target::Primary,
            ),
            ("postgres:///db?host=/run/a,/run/b&port=1,2", &[("/run/a", 1), ("/run/b", 2)], Target::ReadWrite),
            ("postgres://u@/db?host=h1%2Ch2&port=6", &[("h1", 6), ("h2", 6)], Target::ReadWrite),
            ("postgres://m@localhost:54/db?host=/run/a", &[("/run/a", 54)], Target::Primary),
        ] {
            assert_eq!(read(url), Ok((at(places), target)), "{url}");
        }
    }

    #[test]
    fn the_log_names_a_database_without_its_user_and_password() {
        for (url, described) in [
            ("postgres://ana:secret@db.example/games?sslmode=require", "games at db.example:5432"),
            ("postgres://ana:secret@h1,h2:6001/games?password=secret", "games at h1:5432, h2:6001"),
            ("postgres://ana@localhost/games?host=/run/a", "games at /run/a:5432"),
            ("postgres://ana:secret@db.example", "ana at db.example:5432"),
        ] {
            assert_eq!(describe(url).as_deref(), Ok(described));
        }
    }

    #[test]
    fn every_host_gets_user_password_database_and_parameters() {
        let hosts: Hosts = "postgres://ana:x@h1,h2/games?options[work_mem]=1MB".parse().expect("it is right");
        for options in &hosts.options {
            assert_eq!((options.get_username(), options.get_database()), ("ana", Some("games")));
            assert_eq!(options.get_options(), Some("-c work_mem=1MB"));
        }
    }

    #[test]
    fn a_password_that_is_not_encoded_is_refused_without_being_shown() {
        for url in [
            "postgres://ana:12/secret@db.example/mancala",
            "postgres://ana:12?secret@db.example/mancala",
            "postgres://ana:12#secret@db.example/mancala",
            "postgres://ana:secret/1@db.example/mancala",
            "mysql://ana:secret@db.example/mancala",
            "postgres://ana:secret@db.example/mancala?port=secret",
            "postgres://ana:secret@db.example/mancala?sslmode=secret",
            "postgres://ana@db.example:secret/mancala",
            "ana:secret@db.example",
        ] {
            let wrong = read(url).expect_err(url);
            assert!(!format!("{wrong} {wrong:?}").contains("secret"), "{wrong}");
        }
    }

    #[test]
    fn a_password_in_every_form_is_read_and_unknown_parameters_are_dropped() {
        for url in [
            "postgres://ana:s%2Fe@db.example/mancala",
            "postgresql://ana@db.example/mancala?password=s%2Fe",
            "postgres://db.example/mancala?user=ana&password=s/e&sslpassword=hidden&connect_timeout=5",
        ] {
            let hosts: Hosts = url.parse().unwrap_or_else(|wrong| panic!("{url}: {wrong}"));
            let options = &hosts.options[0];
            assert_eq!((options.get_username(), options.get_host()), ("ana", "db.example"));
            assert!(!format!("{:?}", options.get_database()).contains("hidden"));
        }
    }

    #[test]
    fn a_wrong_url_says_what_is_wrong() {
        for (url, wrong) in [
            ("", WrongUrl::Form),
            ("h1,h2", WrongUrl::Form),
            ("mysql://h1/db", WrongUrl::Form),
            ("postgres://h1:x,h2/db", WrongUrl::Form),
            ("postgres://h1,h2/db?port=1,2,3", WrongUrl::Ports),
            ("postgres://h1,h2/db?target_session_attrs=standby", WrongUrl::Target),
            ("postgres://h1,h2/db?target_session_attrs=", WrongUrl::Target),
            (&format!("postgres://{}/db", ["h"; 17].join(",")), WrongUrl::TooManyHosts),
        ] {
            assert_eq!(read(url), Err(wrong), "{url}");
        }
    }
}
