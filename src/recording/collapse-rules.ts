import { hash } from 'node:crypto'
import { milliseconds } from 'date-fns/milliseconds'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import {
  type CollapseRule,
  type EventTypeDefinition,
  type EventTypes,
  isPeriod,
} from '../event/event-types.js'
import { storableText } from '../event/json-copy.js'
import type { Outcome } from '../event/known-attributes.js'
import type { LinkTable } from '../event/links.js'
import { redactText } from '../event/secret-values.js'
import { type OptionNames, requireOptions } from '../options.js'
import type { CallContext } from './call-context.js'

/** Values that an event lists: the first 100 different ones, and how many further ones there were. */
export interface Listed {
  /** The name of the attribute. `<attribute>_more` is the number of further values. */
  readonly attribute: string
  readonly values: readonly unknown[]
}

/** The event of the counted calls of a window, without what is counted. */
export interface RestData extends Pick<CallContext, 'username' | 'source'> {
  readonly data: object
}

/** A call that is counted if the window of its key is open. */
export interface CountedCall {
  readonly type: string
  /** See {@link callKey}. */
  readonly key: string
  readonly windowMs: number
  readonly listed?: Listed | undefined
  /** The caller limits the number of such keys: their windows neither count as open ones nor end early. */
  readonly isLimited?: boolean | undefined
  /** Called once in each window, at the first counted call. */
  readonly rest: () => RestData
}

/** A rule of a call whose caller knows the key. It makes the data only if an event is made of the call. */
export class KnownCollapse implements CollapseRule {
  readonly by: readonly string[] = []
  readonly window = {}
  readonly call: CountedCall
  readonly event: () => Pick<RestData, 'data' | 'source'>

  constructor(call: CountedCall, event: KnownCollapse['event']) {
    this.call = call
    this.event = event
  }
}

/** Counts a call of a log and returns true; returns false if it has to be recorded. */
type Count = (call: CountedCall) => boolean

const counts = new WeakMap<object, Count>()

/** Sets how calls of the log are counted. */
export const setCount = (audit: object, count: Count): void => void counts.set(audit, count)

/**
 * Counts a call and returns true, if that is all that `recordSystem` would do: without a draft and a promise. Returns false if the call
 * has to be made.
 */
export const countNow = (audit: object, { call }: KnownCollapse): boolean =>
  counts.get(audit)?.(call) === true

/** A call with what its rule can name. */
export interface Collapsible {
  readonly type: string
  readonly definition: EventTypeDefinition | undefined
  readonly data: object
  readonly rule: CollapseRule | undefined
  readonly username: string | null
  readonly source?: string | undefined
}

/** The rules of types and of calls. */
export interface CollapseRules {
  /** True if the type has a throttle or a collapse of its own, which come before those of a call. */
  hasOwnRule(type: string): boolean
  /** The call by the rule of its type, or else its own; `undefined` if there is none. Throws `INVALID_OPTION`. */
  callOf(call: Collapsible): CountedCall | undefined
}

/** Counts the calls of each key. */
export interface Collapsing extends CollapseRules {
  /** Counts the call in its open window and returns true; returns false if it begins one, which `open` does. */
  count(call: CountedCall): boolean
  /** Begins the window of a call that is being recorded. */
  open(call: CountedCall): void
  /** Ends the window of a call that was not recorded, unless other calls were counted in it. */
  lost(call: CountedCall): void
  /** The events of counted calls that no process has recorded yet. Those of other processes may lack the last second. */
  readonly counted: (signal: AbortSignal | undefined) => Promise<readonly AuditEvent[]>
  /** Resolves when the counts are in the store. Rejects if it fails. */
  save(): Promise<void>
  /** Ends all windows, and records their events within `ms()` milliseconds. Never rejects. */
  close(ms: () => number): Promise<void>
}

export const MAX_LISTED = 100
export const MAX_TEXT = 128
const MAX_KEY = 1024
const MAX_WINDOW_MS = 86_400_000

const COLLAPSE: OptionNames<CollapseRule> = { by: true, window: true }

/** A listed value as an event has it. */
export const shownText = (value: unknown): string =>
  redactText(storableText(String(value).slice(0, MAX_TEXT)))

/** The attribute with the number of values that are not listed. */
export const moreOf = (attribute: string): string => `${attribute}_more`

/** The attributes of the event of one call. */
export function listedAttributes({ attribute, values }: Listed): JsonObject {
  if (values.length === 0) return {}
  const shown = [...new Set(values.slice(0, MAX_LISTED))].map(shownText)
  const more = Math.max(0, values.length - MAX_LISTED)
  return { [attribute]: shown, ...(more > 0 && { [moreOf(attribute)]: more }) }
}

/** The key of calls with these values. Throws for a value that cannot be read. */
export function callKey(values: readonly unknown[]): string {
  const key = JSON.stringify(values)
  return key.length > MAX_KEY ? hash('sha256', key, 'base64url') : key
}

/** Throws `INVALID_OPTION` for anything but a {@link CollapseRule}; `where` names it. */
export function checkCollapse(rule: CollapseRule, where: string): void {
  requireOptions(rule, COLLAPSE, where)
  const { by, window } = rule
  const isNames =
    Array.isArray(by) &&
    by.length > 0 &&
    by.every((name) => typeof name === 'string' && name !== '')
  if (!isNames)
    throw new AuditLogError(
      'INVALID_OPTION',
      `${where}: by must list names: username, source or data keys`,
    )
  if (!isPeriod(window) || milliseconds(window) > MAX_WINDOW_MS)
    throw new AuditLogError(
      'INVALID_OPTION',
      `${where}: window must be a date-fns Duration of at most a day, such as { hours: 1 }`,
    )
}

/** A rule, and the data keys that can give its events a source. */
interface ReadRule {
  readonly by: readonly string[]
  readonly windowMs: number
  readonly links: ReadonlySet<string>
  /** The outcome of the type. Calls with other outcomes are counted on their own. */
  readonly outcome: Outcome | undefined
}

const PLACES = /\{([^{}/]+)\}/g

/** The names of data keys that can give an event a source: link attributes, and those in the template of its type. */
export function linkNames(links: LinkTable, template = ''): ReadonlySet<string> {
  const places = Array.from(template.matchAll(PLACES), ([, name]) => name!)
  return new Set([...links.map(({ attribute }) => attribute), ...places])
}

/** The members of the data by which calls are counted. */
function pickData({ by, links, outcome }: ReadRule, given: object): Record<string, unknown> {
  const data = given as Readonly<Record<string, unknown>>
  const picked: Record<string, unknown> = {}
  const linked = by.includes('source')
    ? Object.keys(data)
        .filter((key) => links.has(key))
        .toSorted()
    : []
  for (const name of [...by, ...linked])
    if (name !== 'username' && name !== 'source') picked[name] = data[name] ?? null
  if (outcome !== undefined) picked['outcome'] = data['outcome'] ?? outcome
  return picked
}

/** The call of a rule by names; `undefined` if one of the values cannot be read. */
function callByNames(rule: ReadRule, call: Collapsible): CountedCall | undefined {
  const { type } = call
  const { by, windowMs } = rule
  const username = by.includes('username') ? call.username : null
  const source = by.includes('source') ? call.source : undefined
  try {
    const data = pickData(rule, call.data)
    const key = callKey([type, username, source, data])
    return { type, key, windowMs, rest: () => ({ username, source, data }) }
  } catch {
    return undefined
  }
}

/** Reads the rules of types and of calls. */
export function createCollapseRules({
  types,
  throttles,
  links,
}: {
  readonly types: EventTypes
  readonly throttles: { readonly has: (type: string) => boolean }
  readonly links: LinkTable
}): CollapseRules {
  const read = ({ by, window }: CollapseRule, type: string): ReadRule => ({
    by,
    windowMs: milliseconds(window),
    links: linkNames(links, types[type]?.source),
    outcome: types[type]?.outcome,
  })
  const ofTypes = new Map<string, ReadRule>()
  for (const [type, { collapse }] of Object.entries(types))
    if (collapse) ofTypes.set(type, read(collapse, type))
  return {
    hasOwnRule: (type) => ofTypes.has(type) || throttles.has(type),
    callOf(call) {
      const { type, rule } = call
      const own = ofTypes.get(type)
      const known = rule instanceof KnownCollapse ? rule : undefined
      if (rule !== undefined && !known) checkCollapse(rule, 'collapse')
      if (own) return callByNames(own, call)
      if (rule === undefined || throttles.has(type)) return undefined
      return known ? known.call : callByNames(read(rule, type), call)
    },
  }
}
