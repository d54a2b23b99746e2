import type { JsonObject } from '../event/event.js'
import type { PersonalRule } from '../event/personal.js'
import type { SubjectKeys } from './subject-keys.js'

/** Encryption of attributes about persons. */
export interface PrivacyOptions {
  /** The keys of persons: `memorySubjectKeys`, `sqliteSubjectKeys` or `postgresSubjectKeys`. `close` of the log closes them. */
  readonly keys: SubjectKeys
  /** The personal attributes of a custom event. Called for each custom event, with its attributes as they would be stored. @default none */
  readonly custom?: (type: string, attributes: JsonObject) => readonly PersonalRule[]
}
