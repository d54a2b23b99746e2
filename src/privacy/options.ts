import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import type { LinkTable } from '../event/links.js'
import { overlap, type PersonalRule } from '../event/personal.js'
import { type OptionNames, requireOptions } from '../options.js'
import { checkKeyBackupDays } from './completion.js'
import type { SubjectKeys } from './subject-keys.js'

/** Encryption of attributes about persons. */
export interface PrivacyOptions {
  /** The keys of persons: `memorySubjectKeys`, `sqliteSubjectKeys` or `postgresSubjectKeys`. `close` of the log closes them. */
  readonly keys: SubjectKeys
  /** The personal attributes of a custom event. Called for each custom event, with its attributes as they would be stored. @default none */
  readonly custom?: (type: string, attributes: JsonObject) => readonly PersonalRule[]
  /**
   * Days after which a backup of the keys is deleted, 0 or more; 0 if the keys are in no backup. An erasure is complete when no backup has the key: after
   * these days, or once all keys have a new master key (`rotate`) and the former one is destroyed. @default unknown, so only `rotate` completes erasures
   */
  readonly keyBackupDays?: number | undefined
}

const PRIVACY: OptionNames<PrivacyOptions> = { keys: true, custom: true, keyBackupDays: true }

const fault = (message: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `AuditLog: ${message}`)

/** Links are part of the source of an event, which stays readable. */
function checkLinks(types: EventTypes, links: LinkTable): void {
  for (const [type, { personal = [] }] of Object.entries(types))
    for (const name of personal.flatMap(({ attributes }) => attributes)) {
      const link = links.find(({ attribute }) => overlap(attribute, name))
      if (link) throw fault(`${name} of ${type} cannot be personal: ${link.attribute} is a link`)
    }
}

/** The option `privacy`. Throws `INVALID_OPTION`, also without it if a type declares personal attributes. */
export function readPrivacy(
  given: PrivacyOptions | false | undefined,
  { types, links }: { readonly types: EventTypes; readonly links: LinkTable },
  isReadOnly: boolean,
): PrivacyOptions | undefined {
  if (given === undefined && !isReadOnly) {
    const [type] = Object.entries(types).find(([, { personal = [] }]) => personal.length > 0) ?? []
    if (type !== undefined)
      throw fault(`${type} declares personal attributes, so the log needs the option privacy`)
  }
  if (given === undefined || given === false) return undefined
  requireOptions(given, PRIVACY, 'privacy')
  if (typeof given.keys?.obtain !== 'function')
    throw fault('privacy.keys must be a key store, such as sqliteSubjectKeys of daybook/sqlite')
  if (given.custom !== undefined && typeof given.custom !== 'function')
    throw fault('privacy.custom must be a function')
  checkKeyBackupDays(given.keyBackupDays)
  checkLinks(types, links)
  return given
}
