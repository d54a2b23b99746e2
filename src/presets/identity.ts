import type { EventTypeDefinition, EventTypes, OcsfMapping } from '../event/event-types.js'
import type { Outcome } from '../event/known-attributes.js'

/** Data keys of all identity events: the account that the event is about, and facts about the attempt. */
const KEYS = ['user_name', 'user_id', 'method', 'count', 'remote_address'] as const
const GRANT_KEYS = [...KEYS, 'role', 'privileges'] as const

/* Classes of OCSF, with the activity of the type. */
const account = (activity: number): OcsfMapping => ({ class: 3001, activity })
const authentication = (activity: number): OcsfMapping => ({ class: 3002, activity })
const entity = (type: string): OcsfMapping => ({
  class: 3004,
  set: { 'entity.type': type },
})

interface Kind<Keys> {
  readonly area: string
  readonly data: Keys
  readonly ocsf: OcsfMapping
  readonly severity?: number
  /** @default 'success' */
  readonly outcome?: Outcome
}

const define = <const Keys extends readonly string[]>(
  description: string,
  [sentence, de]: readonly [en: string, de: string],
  kind: Kind<Keys>,
) =>
  ({
    description,
    sentence,
    sentences: { de },
    outcome: 'success' as Outcome,
    ...kind,
  }) satisfies EventTypeDefinition

/** The severity number of OpenTelemetry for events that an auditor looks for, although they are no failures. */
const WARN = 13

const SIGN_IN = 'Sign-in'
const ACCOUNTS = 'Accounts'
const ACCESS = 'Access'

/**
 * Types of the events of identities: sign-in, lockout, MFA, accounts, passwords, roles, sessions, tokens and impersonation.
 * They have sentences in English and German, and become events of the OCSF classes 3001 to 3005. The user of an event is who acts;
 * `user_name` and `user_id` name the account that the event is about. A refused sign-in has no user, because the name is only claimed. The
 * `outcome` of refusals is `denied`, that of the others `success`. Combine
 * them with types of your own by spreading: `defineEventTypes({ ...identityEventTypes, 'api:orders:create': {} })`.
 */
export const identityEventTypes = {
  'info:sign_in:success': define(
    'a user signed in',
    [
      'signed in[ with {method}][ from {remote_address}] | [**{user_name}**|a user] signed in[ with {method}][ from {remote_address}]',
      'hat sich[ mit {method}][ von {remote_address}] angemeldet | [**{user_name}**|Ein Benutzer] hat sich[ mit {method}][ von {remote_address}] angemeldet',
    ],
    { area: SIGN_IN, data: KEYS, ocsf: authentication(1) },
  ),
  'warn:sign_in:failure': define(
    'a sign-in was refused: wrong password, unknown or locked account',
    [
      '| sign-in[ as **{user_name}**] failed[ from {remote_address}][: {@reason}]',
      '| Anmeldung[ als **{user_name}**] fehlgeschlagen[, von {remote_address}][: {@reason}]',
    ],
    { area: SIGN_IN, data: KEYS, outcome: 'denied', ocsf: authentication(1) },
  ),
  'info:mfa:success': define(
    'a user proved a second factor',
    [
      'confirmed a second factor[: {method}] | second factor[ of **{user_name}**] confirmed[: {method}]',
      'hat einen zweiten Faktor bestätigt[: {method}] | Zweiter Faktor[ von **{user_name}**] bestätigt[: {method}]',
    ],
    { area: SIGN_IN, data: KEYS, ocsf: authentication(1) },
  ),
  'warn:mfa:failure': define(
    'the proof of a second factor was refused',
    [
      '| second factor[ of **{user_name}**] refused[: {@reason}]',
      '| Zweiter Faktor[ von **{user_name}**] abgewiesen[: {@reason}]',
    ],
    { area: SIGN_IN, data: KEYS, outcome: 'denied', ocsf: authentication(1) },
  ),
  'info:session:end': define(
    'a user signed out',
    [
      'signed out | [**{user_name}**|a user] signed out',
      'hat sich abgemeldet | [**{user_name}**|Ein Benutzer] hat sich abgemeldet',
    ],
    {
      area: SIGN_IN,
      data: KEYS,
      ocsf: authentication(2),
    },
  ),
  'info:session:expire': define(
    'a session ended because its time was over',
    ['| session[ of **{user_name}**] expired', '| Sitzung[ von **{user_name}**] abgelaufen'],
    { area: SIGN_IN, data: KEYS, ocsf: authentication(2) },
  ),
  'info:session:revoke': define(
    'someone ended a session of an account',
    [
      'ended a session[ of **{user_name}**][: {@reason}] | session[ of **{user_name}**] ended[: {@reason}]',
      'hat eine Sitzung[ von **{user_name}**] beendet[: {@reason}] | Sitzung[ von **{user_name}**] beendet[: {@reason}]',
    ],
    { area: SIGN_IN, data: KEYS, severity: WARN, ocsf: authentication(2) },
  ),
  'info:session:elevate': define(
    'a session got further privileges',
    [
      'raised a session[ to **{role}**] | session[ of **{user_name}**] raised[ to **{role}**]',
      'hat eine Sitzung[ auf **{role}**] angehoben | Sitzung[ von **{user_name}**][ auf **{role}**] angehoben',
    ],
    { area: SIGN_IN, data: GRANT_KEYS, ocsf: { class: 3003, activity: 1 } },
  ),
  'info:impersonation:start': define(
    'a user began to act as another one',
    [
      'began to act as **{user_name}**[: {@reason}] | impersonation of **{user_name}** began[: {@reason}]',
      'handelt ab jetzt als **{user_name}**[: {@reason}] | Handeln als **{user_name}** begonnen[: {@reason}]',
    ],
    { area: SIGN_IN, data: KEYS, severity: WARN, ocsf: authentication(7) },
  ),
  'info:impersonation:end': define(
    'a user no longer acts as another one',
    [
      'stopped acting as **{user_name}** | impersonation of **{user_name}** ended',
      'handelt nicht mehr als **{user_name}** | Handeln als **{user_name}** beendet',
    ],
    { area: SIGN_IN, data: KEYS, ocsf: authentication(7) },
  ),
  'info:account:create': define(
    'an account was created',
    [
      'created account **{user_name}** | account **{user_name}** created',
      'hat das Konto **{user_name}** angelegt | Konto **{user_name}** angelegt',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(1) },
  ),
  'info:account:enable': define(
    'an account was enabled',
    [
      'enabled account **{user_name}** | account **{user_name}** enabled',
      'hat das Konto **{user_name}** aktiviert | Konto **{user_name}** aktiviert',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(2) },
  ),
  'info:account:disable': define(
    'an account was disabled',
    [
      'disabled account **{user_name}**[: {@reason}] | account **{user_name}** disabled[: {@reason}]',
      'hat das Konto **{user_name}** deaktiviert[: {@reason}] | Konto **{user_name}** deaktiviert[: {@reason}]',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(5) },
  ),
  'info:account:delete': define(
    'an account was deleted',
    [
      'deleted account **{user_name}** | account **{user_name}** deleted',
      'hat das Konto **{user_name}** gelöscht | Konto **{user_name}** gelöscht',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(6) },
  ),
  'info:account:lock': define(
    'an account was locked, by a user or after too many refused attempts',
    [
      'locked account **{user_name}**[: {@reason}] | account **{user_name}** locked[ after {count} failed {count:attempt/attempts}][: {@reason}]',
      'hat das Konto **{user_name}** gesperrt[: {@reason}] | Konto **{user_name}** gesperrt[ nach {count} {count:Fehlversuch/Fehlversuchen}][: {@reason}]',
    ],
    { area: ACCOUNTS, data: KEYS, severity: WARN, ocsf: account(9) },
  ),
  'info:account:unlock': define(
    'a locked account was unlocked',
    [
      'unlocked account **{user_name}** | account **{user_name}** unlocked',
      'hat das Konto **{user_name}** entsperrt | Konto **{user_name}** entsperrt',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(12) },
  ),
  'info:mfa:enroll': define(
    'a second factor was set up',
    [
      'set up a second factor[ {method}][ for **{user_name}**] | second factor[ {method}] set up[ for **{user_name}**]',
      'hat einen zweiten Faktor[ {method}][ für **{user_name}**] eingerichtet | Zweiter Faktor[ {method}][ für **{user_name}**] eingerichtet',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(10) },
  ),
  'info:mfa:remove': define(
    'a second factor was removed',
    [
      'removed a second factor[ {method}][ of **{user_name}**] | second factor[ {method}][ of **{user_name}**] removed',
      'hat einen zweiten Faktor[ {method}][ von **{user_name}**] entfernt | Zweiter Faktor[ {method}][ von **{user_name}**] entfernt',
    ],
    { area: ACCOUNTS, data: KEYS, severity: WARN, ocsf: account(11) },
  ),
  'info:password:change': define(
    'a user changed a password',
    [
      'changed the password[ of **{user_name}**] | password[ of **{user_name}**] changed',
      'hat das Kennwort[ von **{user_name}**] geändert | Kennwort[ von **{user_name}**] geändert',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(3) },
  ),
  'info:password:request_reset': define(
    'a reset of a password was requested',
    [
      'requested a password reset[ for **{user_name}**] | password reset[ for **{user_name}**] requested',
      'hat angefordert, das Kennwort[ von **{user_name}**] zurückzusetzen | Zurücksetzen des Kennworts[ von **{user_name}**] angefordert',
    ],
    { area: ACCOUNTS, data: KEYS, ocsf: account(4) },
  ),
  'info:password:reset': define(
    'a password was reset',
    [
      'reset the password[ of **{user_name}**] | password[ of **{user_name}**] reset',
      'hat das Kennwort[ von **{user_name}**] zurückgesetzt | Kennwort[ von **{user_name}**] zurückgesetzt',
    ],
    { area: ACCOUNTS, data: KEYS, severity: WARN, ocsf: account(4) },
  ),
  'info:role:grant': define(
    'an account got a role or privileges',
    [
      'granted [**{role}**|{privileges}] to **{user_name}** | [**{role}**|{privileges}] granted to **{user_name}**',
      'hat [**{role}**|{privileges}] an **{user_name}** vergeben | [**{role}**|{privileges}] an **{user_name}** vergeben',
    ],
    { area: ACCESS, data: GRANT_KEYS, ocsf: { class: 3005, activity: 1 } },
  ),
  'info:role:revoke': define(
    'an account lost a role or privileges',
    [
      'revoked [**{role}**|{privileges}] from **{user_name}** | [**{role}**|{privileges}] revoked from **{user_name}**',
      'hat **{user_name}** [**{role}**|{privileges}] entzogen | **{user_name}** wurde [**{role}**|{privileges}] entzogen',
    ],
    { area: ACCESS, data: GRANT_KEYS, ocsf: { class: 3005, activity: 2 } },
  ),
  'info:role:create': define(
    'a role was created',
    [
      'created role **{name}** | role **{name}** created',
      'hat die Rolle **{name}** angelegt | Rolle **{name}** angelegt',
    ],
    { area: ACCESS, data: GRANT_KEYS, ocsf: entity('Role') },
  ),
  'info:role:update': define(
    'the privileges of a role changed',
    [
      'changed role **{name}** | role **{name}** changed',
      'hat die Rolle **{name}** geändert | Rolle **{name}** geändert',
    ],
    { area: ACCESS, data: [...GRANT_KEYS, 'changes', 'changes_cut'], ocsf: entity('Role') },
  ),
  'info:role:delete': define(
    'a role was deleted',
    [
      'deleted role **{name}** | role **{name}** deleted',
      'hat die Rolle **{name}** gelöscht | Rolle **{name}** gelöscht',
    ],
    { area: ACCESS, data: GRANT_KEYS, ocsf: entity('Role') },
  ),
  'info:token:create': define(
    'a token for access to the API was issued',
    [
      'created token[ **{name}**][ for **{user_name}**] | token[ **{name}**][ for **{user_name}**] created',
      'hat das Token[ **{name}**][ für **{user_name}**] angelegt | Token[ **{name}**][ für **{user_name}**] angelegt',
    ],
    { area: ACCESS, data: [...GRANT_KEYS, 'expires_at'], ocsf: entity('Token') },
  ),
  'info:token:update': define(
    'a token was renewed, or its rights changed',
    [
      'changed token[ **{name}**][ of **{user_name}**] | token[ **{name}**][ of **{user_name}**] changed',
      'hat das Token[ **{name}**][ von **{user_name}**] geändert | Token[ **{name}**][ von **{user_name}**] geändert',
    ],
    { area: ACCESS, data: [...GRANT_KEYS, 'expires_at'], ocsf: entity('Token') },
  ),
  'info:token:revoke': define(
    'a token was revoked',
    [
      'revoked token[ **{name}**][ of **{user_name}**][: {@reason}] | token[ **{name}**][ of **{user_name}**] revoked[: {@reason}]',
      'hat das Token[ **{name}**][ von **{user_name}**] widerrufen[: {@reason}] | Token[ **{name}**][ von **{user_name}**] widerrufen[: {@reason}]',
    ],
    { area: ACCESS, data: KEYS, ocsf: { ...entity('Token'), activity: 4 } },
  ),
} as const satisfies EventTypes
