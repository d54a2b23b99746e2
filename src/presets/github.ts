import type { CustomTypeDefinition } from '../event/custom-types.js'
import type { JsonObject } from '../event/event.js'
import { addressIn, type Preset, type PresetEvent, textIn, timeIn, withFacts } from './preset.js'

const [ORG, REPO, USER, TEAM] = ['**{org}**', '**{repo}**', '**{user}**', '**{team}**']

/**
 * Sentences of the most important actions: English, German. The sentences of other actions contain the name of the
 * action.
 */
const ROWS: readonly (readonly [action: string, en: string, de: string])[] = [
  ['repo:create', `created repository ${REPO}`, `legte das Repository ${REPO} an`],
  ['repo:destroy', `deleted repository ${REPO}`, `löschte das Repository ${REPO}`],
  ['repo:archived', `archived repository ${REPO}`, `archivierte das Repository ${REPO}`],
  ['repo:rename', `renamed repository ${REPO}`, `benannte das Repository ${REPO} um`],
  ['repo:transfer', `transferred repository ${REPO}`, `übertrug das Repository ${REPO}`],
  [
    'repo:access',
    `changed the visibility of repository ${REPO}[ to {visibility}]`,
    `änderte die Sichtbarkeit des Repositorys ${REPO}[ auf {visibility}]`,
  ],
  [
    'repo:add_member',
    `added ${USER} to repository ${REPO}`,
    `nahm ${USER} in das Repository ${REPO} auf`,
  ],
  [
    'repo:remove_member',
    `removed ${USER} from repository ${REPO}`,
    `entfernte ${USER} aus dem Repository ${REPO}`,
  ],
  ['org:invite_member', `invited ${USER} to ${ORG}`, `lud ${USER} in ${ORG} ein`],
  ['org:add_member', `added ${USER} to ${ORG}`, `nahm ${USER} in ${ORG} auf`],
  ['org:remove_member', `removed ${USER} from ${ORG}`, `entfernte ${USER} aus ${ORG}`],
  [
    'org:update_member',
    `changed the role of ${USER} in ${ORG}[ to {permission}]`,
    `änderte die Rolle von ${USER} in ${ORG}[ auf {permission}]`,
  ],
  [
    'org:block_user',
    '[blocked **{blocked_user}**|blocked a user]',
    '[sperrte **{blocked_user}**|sperrte einen Benutzer]',
  ],
  [
    'org:disable_two_factor_requirement',
    `switched off two-factor authentication in ${ORG}`,
    `schaltete die Zwei-Faktor-Pflicht in ${ORG} ab`,
  ],
  ['team:create', `created team ${TEAM}`, `legte das Team ${TEAM} an`],
  ['team:destroy', `deleted team ${TEAM}`, `löschte das Team ${TEAM}`],
  ['team:add_member', `added ${USER} to team ${TEAM}`, `nahm ${USER} in das Team ${TEAM} auf`],
  [
    'team:remove_member',
    `removed ${USER} from team ${TEAM}`,
    `entfernte ${USER} aus dem Team ${TEAM}`,
  ],
  ['protected_branch:create', `protected a branch of ${REPO}`, `schützte einen Branch von ${REPO}`],
  [
    'protected_branch:destroy',
    `removed the protection of a branch of ${REPO}`,
    `entfernte den Schutz eines Branches von ${REPO}`,
  ],
  [
    'protected_branch:policy_override',
    `overrode the protection of a branch of ${REPO}`,
    `umging den Schutz eines Branches von ${REPO}`,
  ],
  ['git:clone', `cloned ${REPO}`, `klonte ${REPO}`],
  ['git:fetch', `fetched from ${REPO}`, `holte Änderungen von ${REPO}`],
  ['git:push', `pushed to ${REPO}`, `übertrug Änderungen an ${REPO}`],
]

/** The definition of a type, with the sentence of the action or with its name. */
function definition(...own: readonly [en: string, de: string] | readonly []): CustomTypeDefinition {
  const [en, de] = own
  const place = `[ in ${REPO}| in ${ORG}]`
  const [other, otherDe] = [`triggered **{action}**${place}`, `löste **{action}**${place} aus`]
  return {
    label: 'GitHub',
    sentence: `${en === undefined ? other : `[${en}|${other}]`}| **{action}**${place}`,
    sentences: { de: `${de === undefined ? otherDe : `[${de}|${otherDe}]`}| **{action}**${place}` },
  }
}

const ACTION = /^([\w-]+)\.([\w.-]+)$/

function eventOf(record: JsonObject): PresetEvent | undefined {
  const { action, actor, actor_ip: address } = record
  const [, category, operation] = ACTION.exec(textIn(action) ?? '') ?? []
  const time = timeIn(record['@timestamp']) ?? timeIn(record['created_at'])
  if (category === undefined || operation === undefined || time === undefined) return undefined
  return {
    type: `github:${category}:${operation}`,
    username: textIn(actor) ?? null,
    data: withFacts(record, { occurred_at: time, remote_address: addressIn(address) }),
    key: textIn(record['_document_id']),
  }
}

/**
 * Entries of the audit log of an organisation on GitHub, from its JSON export, its stream or its REST API. The type
 * is `github:<category>:<operation>`, such as `github:repo:create`, and the user is the actor. Untried: written by
 * the documentation of GitHub.
 */
export const github: Preset = {
  name: 'github',
  isUntried: true,
  customTypes: {
    'github:*': definition(),
    ...Object.fromEntries(ROWS.map(([action, en, de]) => [`github:${action}`, definition(en, de)])),
  },
  eventOf,
}
