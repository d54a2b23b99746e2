import { inspect } from 'node:util'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { PERSONAL, sealedParts } from '../event/personal.js'
import { type Grouping, oneCondition } from '../filter/ast.js'
import type { SealedNames } from '../filter/sealed-names.js'
import { parseVisible } from '../filter/visible-filter.js'
import type { OptionNames } from '../options.js'
import { createOpening } from '../privacy/opening.js'
import type { PrivacyOptions } from '../privacy/options.js'
import { readSubject, type SubjectOption } from '../privacy/subject-option.js'
import type { WaitOptions } from '../store/store.js'

/**
 * How a read returns personal attributes. `open`: at their places. `sealed`: each part as `{ subject, sealed: true }` in the attribute
 * `personal`, or `{ subject, erased }` with the time once its key is destroyed. `stored`: encrypted, as they are stored, and as the ledger proves them.
 */
export type PersonalForm = 'open' | 'sealed' | 'stored'

/** Options of reads that return events. */
export interface PersonalOptions {
  /**
   * The form of personal attributes: see {@link PersonalForm}. `open` rejects with `KEYS_UNAVAILABLE` while the keys cannot be had, and with
   * `INVALID_OPTION` if the log has no option `privacy`. After an erasure it returns what `sealed` returns. @default `open` with the option `privacy`, else `sealed`
   */
  readonly personal?: PersonalForm | undefined
}

/** Options of reads of the events of a person. */
export interface SubjectOptions {
  /**
   * Only events with encrypted data of this person, such as `{ customer: 'c17' }`. None if the person has no key, because nothing was recorded or it
   * was erased. Rejects with `INVALID_VALUE` for a kind that no event type declares, `KEYS_UNAVAILABLE`, and `INVALID_OPTION` if the log has no option `privacy`. @default the events of everybody
   */
  readonly subject?: SubjectOption | undefined
}

export const PERSONAL_OPTIONS: OptionNames<PersonalOptions> = { personal: true }
export const SUBJECT_OPTIONS: OptionNames<SubjectOptions> = { subject: true }

const FORMS: ReadonlySet<unknown> = new Set<PersonalForm>(['open', 'sealed', 'stored'])

/** Throws `INVALID_OPTION` for anything but a form or `undefined`. */
export function checkForm(form: unknown): void {
  if (form === undefined || FORMS.has(form)) return
  throw new AuditLogError(
    'INVALID_OPTION',
    `personal must be 'open', 'sealed' or 'stored'; it is ${inspect(form)}`,
  )
}

type Events = readonly AuditEvent[]

/** The personal attributes of a log, for its reads. */
export interface PersonalValues {
  /** Names that no query may use. */
  readonly names: SealedNames
  /** True if the log has keys, so that values can be opened. */
  readonly hasKeys: boolean
  /** The form that a call asks for. Throws `INVALID_OPTION`. */
  form(given: PersonalForm | undefined): PersonalForm
  /** The events in this form. At once, and the events themselves, if none has sealed parts. */
  show(events: Events, form: PersonalForm, options: WaitOptions): Events | Promise<Events>
  /** The filter of the events of a person. `undefined` for everybody. */
  ofSubject(subject: SubjectOption | undefined, options: WaitOptions): Promise<Grouping | undefined>
  /**
   * Returns a function that leaves the events of a person, among events that match {@link HAS_PARTS}. It looks up the person each time, because a
   * person gets a ref with the first event, and another one after an erasure.
   */
  selectSubject(subject: SubjectOption): (events: Events, options: WaitOptions) => Promise<Events>
}

const REF = `${PERSONAL}_subject`

/** The filter of the events that may have sealed parts. */
export const HAS_PARTS: Grouping = oneCondition(REF, 'not_null', [])

const NOTHING = parseVisible({ id_in: [] })

const noKeys = (option: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `${option} needs the option privacy of the log`)

/** Reads the personal attributes of a log with these options. */
export function createPersonalValues(
  types: EventTypes,
  privacy: PrivacyOptions | undefined,
  names: SealedNames,
): PersonalValues {
  const keys = privacy?.keys
  const opening = createOpening(keys)
  const read = (subject: SubjectOption) => {
    if (!keys) throw noKeys('subject')
    return { keys, person: readSubject(subject, { types, privacy }, 'subject') }
  }
  return {
    names,
    hasKeys: keys !== undefined,
    form(given) {
      checkForm(given)
      if (given === 'open' && !keys) throw noKeys("personal: 'open'")
      return given ?? (keys ? 'open' : 'sealed')
    },
    show(events, form, options) {
      return form === 'stored' ? events : opening.events(events, form, options)
    },
    async ofSubject(subject, options) {
      if (subject === undefined) return undefined
      const { keys: found, person } = read(subject)
      const ref = await found.find(person, options)
      return ref === undefined ? NOTHING : oneCondition(REF, 'eq', [ref])
    },
    selectSubject(subject) {
      const { keys: found, person } = read(subject)
      return async (events, options) => {
        if (events.length === 0) return events
        const ref = await found.find(person, options)
        const isOf = ({ attributes }: AuditEvent): boolean =>
          sealedParts(attributes)?.some((part) => part.subject === ref) === true
        return events.filter(isOf)
      }
    },
  }
}
