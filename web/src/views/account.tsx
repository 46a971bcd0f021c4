// The player: name, password, recovery code, sign-ins, data, and the end.

import type { Player, Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";
import { client, SOON } from "../client.ts";
import * as rows from "../parts/rows.module.css";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Action, Confirm, Copy, Field, Form, PlayerName, Tick } from "../parts/ui.tsx";
import { ask } from "../state/ask.ts";
import { attempt, failedBy, say } from "../state/messages.ts";
import { now } from "../state/network.ts";
import { silence } from "../state/push.ts";
import { ensurePlayer, keep, keptGuest, me, recoveryCode, signInId } from "../state/session.ts";
import { set } from "../state/settings.ts";
import { relative } from "../texts/format.ts";
import { t } from "../texts/index.ts";
import * as css from "./account.module.css";

export function AccountView() {
  const { value: player } = me;
  return (
    <div class={`${ui.narrow} ${ui.stack}`}>
      <Heading title={t("account.title")}>{t("account.title")}</Heading>
      {player ? <Known player={player} /> : <Unknown />}
    </div>
  );
}

function Unknown() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  return (
    <>
      <section class={ui.card}>
        <h2>{t("account.new-title")}</h2>
        <p>{t("account.new-text")}</p>
        <Action kind="primary" run={ensurePlayer}>
          {t("account.be-guest")}
        </Action>
      </section>
      <section class={ui.card}>
        <h2>{t("account.register")}</h2>
        <p>{t("account.register-new")}</p>
        <Form submit={t("account.register")} run={() => client.session.register(name.trim(), password, SOON)}>
          <Field id="new-name" label={t("account.name")} value={name} maxLength={32} autoComplete="username" isRequired onInput={setName} />
          <NewPassword value={password} onInput={setPassword} />
        </Form>
      </section>
      <SignIn />
      <Recover />
    </>
  );
}

function NewPassword({ value, onInput }: { value: string; onInput(value: string): void }) {
  return (
    <Field
      id="new-password"
      type="password"
      label={t("account.password")}
      value={value}
      autoComplete="new-password"
      hint={t("account.password-hint")}
      isRequired
      onInput={onInput}
    />
  );
}

function SignIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  return (
    <section class={ui.card}>
      <h2>{t("account.sign-in")}</h2>
      <Form submit={t("account.sign-in")} run={() => client.session.signIn(name.trim(), password, SOON)}>
        <Field id="name" label={t("account.name")} value={name} maxLength={32} autoComplete="username" isRequired onInput={setName} />
        <Field id="password" type="password" label={t("account.password")} value={password} autoComplete="current-password" isRequired onInput={setPassword} />
      </Form>
    </section>
  );
}

function Recover() {
  const [code, setCode] = useState("");
  return (
    <section class={ui.card}>
      <h2>{t("account.recover")}</h2>
      <p>{t("account.recover-text")}</p>
      <Form submit={t("account.recover")} run={() => client.session.recover(code, SOON)}>
        <Field id="code" label={t("account.code")} value={code} maxLength={64} isRequired onInput={setCode} />
      </Form>
    </section>
  );
}

function Known({ player }: { player: Player }) {
  const isGuest = player.kind === "guest";
  return (
    <>
      <RecoveryCode />
      <KeptGuest />
      <Profile player={player} />
      {isGuest ? <BecomeAccount player={player} /> : <ChangePassword />}
      {isGuest && <SignIn />}
      {isGuest && <Recover />}
      <SignIns player={player} />
      <Data isGuest={isGuest} />
    </>
  );
}

/** The code that the server showed once: it stays here until the player has written it down. */
function RecoveryCode() {
  const { value: code } = recoveryCode;
  const renew = () => keep(client.session.renewRecoveryCode(SOON));
  const forget = () => keep(client.session.forgetRecoveryCode());
  return (
    <section class={ui.card} aria-labelledby="code-title">
      <h2 id="code-title">{t("account.code")}</h2>
      <p>{t("account.code-text")}</p>
      {code !== null && (
        <p>
          <code class={css.code} dir="ltr">
            {code}
          </code>
        </p>
      )}
      <div class={ui.row}>
        {code !== null && <Copy text={code}>{t("ui.copy")}</Copy>}
        {code !== null && <Action run={forget}>{t("account.code-noted")}</Action>}
        {code === null && <Action run={renew}>{t("account.code-renew")}</Action>}
      </div>
    </section>
  );
}

/** The guest of this device, whose games the account may take along. */
function KeptGuest() {
  const { value: guest } = keptGuest;
  if (!guest) return null;
  const merge = async () => {
    await keep(client.session.merge(undefined, SOON));
    say(t("account.merged"));
  };
  const forget = () => keep(client.session.forgetGuest());
  return (
    <section class={ui.card}>
      <h2>{t("account.merge-title")}</h2>
      <p>{t("account.merge-text", { name: guest.name })}</p>
      <div class={ui.row}>
        <Action kind="primary" run={merge}>
          {t("account.merge")}
        </Action>
        <Confirm question={t("account.forget-question")} yes={t("account.forget")} run={forget}>
          {t("account.forget")}
        </Confirm>
      </div>
    </section>
  );
}

function Profile({ player }: { player: Player }) {
  const [name, setName] = useState(player.name);
  const [profile, setProfile] = useState<Schemas["CallerProfile"] | null>(null);
  useEffect(() => {
    setName(player.name);
    void client.api.GET("/v1/me").then(
      ({ data }) => data && setProfile(data),
      () => undefined,
    );
  }, [player.id, player.name]);
  const rename = async () => {
    await client.session.rename(name.trim(), SOON);
    set({ name: name.trim() });
    say(t("account.saved"));
  };
  const find = (isFindable: boolean) =>
    attempt(async () => {
      await ask(client.api.PATCH("/v1/me", { body: { is_findable: isFindable } }));
      setProfile((before) => before && { ...before, is_findable: isFindable });
    });
  return (
    <section class={ui.card}>
      <h2>
        <PlayerName player={player} />
      </h2>
      {profile && (
        <dl class={css.figures}>
          {(["active", "won", "lost", "drawn"] as const).map((key) => (
            <div key={key}>
              <dt>{t(`count.${key}`)}</dt>
              <dd>{profile.counts[key]}</dd>
            </div>
          ))}
        </dl>
      )}
      <p class={ui.quiet}>
        {t("account.id")} <code dir="ltr">{player.id}</code>
      </p>
      <Form submit={t("account.rename")} run={rename}>
        <Field id="rename" label={t("account.name")} value={name} maxLength={32} isRequired onInput={setName} />
      </Form>
      {profile && player.kind === "account" && (
        <Tick id="findable" label={t("account.findable")} isChecked={profile.is_findable} onChange={(isFindable) => void find(isFindable)} />
      )}
    </section>
  );
}

function BecomeAccount({ player }: { player: Player }) {
  const [name, setName] = useState(player.name);
  const [password, setPassword] = useState("");
  const register = async () => {
    await client.session.register(name.trim(), password, SOON);
    setPassword("");
    say(t("account.registered"));
  };
  return (
    <section class={ui.card}>
      <h2>{t("account.register")}</h2>
      <p>{t("account.register-text")}</p>
      <Form submit={t("account.register")} run={register}>
        <Field id="account-name" label={t("account.name")} value={name} maxLength={32} autoComplete="username" isRequired onInput={setName} />
        <NewPassword value={password} onInput={setPassword} />
      </Form>
    </section>
  );
}

function ChangePassword() {
  const [password, setPassword] = useState("");
  const change = async () => {
    await keep(client.session.changePassword(password, SOON));
    setPassword("");
    say(t("account.password-changed"));
  };
  return (
    <section class={ui.card}>
      <h2>{t("account.change-password")}</h2>
      <p>{t("account.change-password-text")}</p>
      <Form submit={t("account.change-password")} run={change}>
        <NewPassword value={password} onInput={setPassword} />
      </Form>
    </section>
  );
}

function SignIns({ player }: { player: Player }) {
  const [items, setItems] = useState<Schemas["ListedSignIn"][] | null>(null);
  const { value: own } = signInId;
  const read = async () => {
    const { data } = await client.api.GET("/v1/me/sign-ins");
    if (data) setItems(data.items);
  };
  useEffect(() => void read().catch(() => undefined), [player.id, own]);
  const end = async (id: string) => {
    try {
      await ask(client.api.DELETE("/v1/me/sign-ins/{sign_in_id}", { params: { path: { sign_in_id: id } } }));
    } catch (error) {
      // It has ended already.
      if (!failedBy(error, "not_found")) throw error;
    }
    await read();
  };
  return (
    <section class={ui.card}>
      <h2>{t("account.sign-ins")}</h2>
      <ul class={rows.rows}>
        {items?.map(({ id, last_used_at: at }) => (
          <li key={id} class={rows.gameRow}>
            <span class={rows.who}>{id === own ? t("account.this-device") : t("account.other-device")}</span>
            <time class={rows.since} dateTime={at}>
              {t("account.last-used", { time: relative(at, now.value) })}
            </time>
            {id !== own && <Action run={() => end(id)}>{t("account.end")}</Action>}
          </li>
        ))}
      </ul>
      <div class={ui.row}>
        <SignOut player={player} />
      </div>
    </section>
  );
}

function SignOut({ player }: { player: Player }) {
  const out = async (everywhere: boolean) => {
    // The server forgets the devices of a sign-in that ends; the browser's subscription is the page's to end.
    await silence().catch(() => undefined);
    await client.session.signOut({ ...SOON, everywhere });
  };
  const isGuest = player.kind === "guest";
  return (
    <>
      <Confirm
        question={t(isGuest ? "account.sign-out-guest" : "account.sign-out-question")}
        yes={t("account.sign-out")}
        kind={isGuest ? "danger" : ""}
        run={() => out(false)}
      >
        {t("account.sign-out")}
      </Confirm>
      {!isGuest && (
        <Confirm question={t("account.everywhere-question")} yes={t("account.everywhere")} run={() => out(true)}>
          {t("account.everywhere")}
        </Confirm>
      )}
    </>
  );
}

function Data({ isGuest }: { isGuest: boolean }) {
  const download = async () => {
    const data = await ask(client.api.GET("/v1/me/export"));
    const url = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: "mancala.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  const erase = async () => {
    await ask(client.api.DELETE("/v1/me"));
    await attempt(() => client.session.signOut(SOON));
    say(t("account.erased"));
  };
  return (
    <section class={ui.card}>
      <h2>{t("account.data")}</h2>
      <p>{t("account.data-text")}</p>
      <div class={ui.row}>
        <Action run={download}>{t("account.export")}</Action>
        <Confirm kind="danger" question={t("account.erase-question")} yes={t("account.erase")} run={erase}>
          {t(isGuest ? "account.erase-guest" : "account.erase")}
        </Confirm>
      </div>
    </section>
  );
}
