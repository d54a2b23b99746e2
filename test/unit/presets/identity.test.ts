import { type AuditEvent, defineEventTypes, describeEvent, german, sentenceText } from 'daybook'
import { toOcsf } from 'daybook/formats'
import { identityEventTypes } from 'daybook/presets'
import { expect, it } from 'vitest'
import { ocsfFaults } from '../../support/ocsf-schema.js'
import { background } from '../formats/events.js'

const types = defineEventTypes(identityEventTypes)
const product = { name: 'orders' }
const attributes = {
  ...{ user_name: 'bob', user_id: 'u-2', role: 'owner', name: 'deploy', method: 'totp' },
  ...{ error: 'expired', count: 5, remote_address: '203.0.113.7' },
}
const eventOf = (type: string, username: string | null): AuditEvent => ({
  ...background(type, attributes),
  username,
})

/** The type, `type_uid` and `status_id` of OCSF; sentences with a user, and without: English, German. */
const ROWS: [string, number, number, string, string, string, string][] = [
  [
    'info:sign_in:success',
    300201,
    1,
    'ann signed in with totp from 203.0.113.7',
    'ann hat sich mit totp von 203.0.113.7 angemeldet',
    'bob signed in with totp from 203.0.113.7',
    'bob hat sich mit totp von 203.0.113.7 angemeldet',
  ],
  [
    'warn:sign_in:failure',
    300201,
    2,
    'ann: sign-in as bob failed from 203.0.113.7: expired',
    'ann: Anmeldung als bob fehlgeschlagen, von 203.0.113.7: expired',
    'sign-in as bob failed from 203.0.113.7: expired',
    'Anmeldung als bob fehlgeschlagen, von 203.0.113.7: expired',
  ],
  [
    'info:mfa:success',
    300201,
    1,
    'ann confirmed a second factor: totp',
    'ann hat einen zweiten Faktor bestätigt: totp',
    'second factor of bob confirmed: totp',
    'Zweiter Faktor von bob bestätigt: totp',
  ],
  [
    'warn:mfa:failure',
    300201,
    2,
    'ann: second factor of bob refused: expired',
    'ann: Zweiter Faktor von bob abgewiesen: expired',
    'second factor of bob refused: expired',
    'Zweiter Faktor von bob abgewiesen: expired',
  ],
  [
    'info:session:end',
    300202,
    1,
    'ann signed out',
    'ann hat sich abgemeldet',
    'bob signed out',
    'bob hat sich abgemeldet',
  ],
  [
    'info:session:expire',
    300202,
    1,
    'ann: session of bob expired',
    'ann: Sitzung von bob abgelaufen',
    'session of bob expired',
    'Sitzung von bob abgelaufen',
  ],
  [
    'info:session:revoke',
    300202,
    1,
    'ann ended a session of bob: expired',
    'ann hat eine Sitzung von bob beendet: expired',
    'session of bob ended: expired',
    'Sitzung von bob beendet: expired',
  ],
  [
    'info:session:elevate',
    300301,
    1,
    'ann raised a session to owner',
    'ann hat eine Sitzung auf owner angehoben',
    'session of bob raised to owner',
    'Sitzung von bob auf owner angehoben',
  ],
  [
    'info:impersonation:start',
    300207,
    1,
    'ann began to act as bob: expired',
    'ann handelt ab jetzt als bob: expired',
    'impersonation of bob began: expired',
    'Handeln als bob begonnen: expired',
  ],
  [
    'info:impersonation:end',
    300207,
    1,
    'ann stopped acting as bob',
    'ann handelt nicht mehr als bob',
    'impersonation of bob ended',
    'Handeln als bob beendet',
  ],
  [
    'info:account:create',
    300101,
    1,
    'ann created account bob',
    'ann hat das Konto bob angelegt',
    'account bob created',
    'Konto bob angelegt',
  ],
  [
    'info:account:enable',
    300102,
    1,
    'ann enabled account bob',
    'ann hat das Konto bob aktiviert',
    'account bob enabled',
    'Konto bob aktiviert',
  ],
  [
    'info:account:disable',
    300105,
    1,
    'ann disabled account bob: expired',
    'ann hat das Konto bob deaktiviert: expired',
    'account bob disabled: expired',
    'Konto bob deaktiviert: expired',
  ],
  [
    'info:account:delete',
    300106,
    1,
    'ann deleted account bob',
    'ann hat das Konto bob gelöscht',
    'account bob deleted',
    'Konto bob gelöscht',
  ],
  [
    'info:account:lock',
    300109,
    1,
    'ann locked account bob: expired',
    'ann hat das Konto bob gesperrt: expired',
    'account bob locked after 5 failed attempts: expired',
    'Konto bob gesperrt nach 5 Fehlversuchen: expired',
  ],
  [
    'info:account:unlock',
    300112,
    1,
    'ann unlocked account bob',
    'ann hat das Konto bob entsperrt',
    'account bob unlocked',
    'Konto bob entsperrt',
  ],
  [
    'info:mfa:enroll',
    300110,
    1,
    'ann set up a second factor totp for bob',
    'ann hat einen zweiten Faktor totp für bob eingerichtet',
    'second factor totp set up for bob',
    'Zweiter Faktor totp für bob eingerichtet',
  ],
  [
    'info:mfa:remove',
    300111,
    1,
    'ann removed a second factor totp of bob',
    'ann hat einen zweiten Faktor totp von bob entfernt',
    'second factor totp of bob removed',
    'Zweiter Faktor totp von bob entfernt',
  ],
  [
    'info:password:change',
    300103,
    1,
    'ann changed the password of bob',
    'ann hat das Kennwort von bob geändert',
    'password of bob changed',
    'Kennwort von bob geändert',
  ],
  [
    'info:password:request_reset',
    300104,
    1,
    'ann requested a password reset for bob',
    'ann hat angefordert, das Kennwort von bob zurückzusetzen',
    'password reset for bob requested',
    'Zurücksetzen des Kennworts von bob angefordert',
  ],
  [
    'info:password:reset',
    300104,
    1,
    'ann reset the password of bob',
    'ann hat das Kennwort von bob zurückgesetzt',
    'password of bob reset',
    'Kennwort von bob zurückgesetzt',
  ],
  [
    'info:role:grant',
    300501,
    1,
    'ann granted owner to bob',
    'ann hat owner an bob vergeben',
    'owner granted to bob',
    'owner an bob vergeben',
  ],
  [
    'info:role:revoke',
    300502,
    1,
    'ann revoked owner from bob',
    'ann hat bob owner entzogen',
    'owner revoked from bob',
    'bob wurde owner entzogen',
  ],
  [
    'info:role:create',
    300401,
    1,
    'ann created role deploy',
    'ann hat die Rolle deploy angelegt',
    'role deploy created',
    'Rolle deploy angelegt',
  ],
  [
    'info:role:update',
    300403,
    1,
    'ann changed role deploy',
    'ann hat die Rolle deploy geändert',
    'role deploy changed',
    'Rolle deploy geändert',
  ],
  [
    'info:role:delete',
    300404,
    1,
    'ann deleted role deploy',
    'ann hat die Rolle deploy gelöscht',
    'role deploy deleted',
    'Rolle deploy gelöscht',
  ],
  [
    'info:token:create',
    300401,
    1,
    'ann created token deploy for bob',
    'ann hat das Token deploy für bob angelegt',
    'token deploy for bob created',
    'Token deploy für bob angelegt',
  ],
  [
    'info:token:update',
    300403,
    1,
    'ann changed token deploy of bob',
    'ann hat das Token deploy von bob geändert',
    'token deploy of bob changed',
    'Token deploy von bob geändert',
  ],
  [
    'info:token:revoke',
    300404,
    1,
    'ann revoked token deploy of bob: expired',
    'ann hat das Token deploy von bob widerrufen: expired',
    'token deploy of bob revoked: expired',
    'Token deploy von bob widerrufen: expired',
  ],
]

it.each(ROWS)('%s', (type, type_uid, status_id, ...sentences) => {
  const events = [eventOf(type, 'ann'), eventOf(type, null)]
  const described = events.flatMap((event) => [
    sentenceText(describeEvent(event, { types })),
    sentenceText(describeEvent(event, { types, language: german }), german),
  ])
  expect(described).toEqual(sentences)
  for (const event of events) {
    const made = toOcsf(event, { product, types })
    expect(made).toMatchObject({ type_uid, status_id })
    expect(ocsfFaults(made)).toEqual([])
  }
})

it('has a row for each type', () => {
  expect(ROWS.map(([type]) => type)).toEqual(Object.keys(identityEventTypes))
})

it('names the account, who acts, and what was granted', () => {
  const privileges = ['orders:read', '', 7, 'orders:write']
  const grant = { ...eventOf('info:role:grant', 'ann'), attributes: { ...attributes, privileges } }
  expect(toOcsf(grant, { product, types })).toMatchObject({
    actor: { user: { name: 'ann' } },
    user: { name: 'bob', uid: 'u-2' },
    privileges: ['owner', 'orders:read', 'orders:write'],
  })
  const own = { ...background('info:password:change'), username: 'ann' }
  expect(toOcsf(own, { product, types })).toMatchObject({ user: { name: 'ann' } })
  expect(toOcsf(background('info:role:grant'), { product, types }).class_uid).toBe(0)
})
