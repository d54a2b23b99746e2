import { createHash, randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { type ChangeData, changeData } from '../event/changes.js'
import type { JsonValue } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { redact } from '../event/redact.js'
import { REDACTED } from '../event/secrets.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { isUuid } from '../event/uuid.js'
import { readAll, readState } from '../store/read-states.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { SETTABLE, type View, type ViewDefinition, VIEW_LIMITS } from './view.js'

/** The part of an audit log that views need. */
export interface ViewsLog {
  readonly store: EventStore
  readonly limits: JsonLimits
  recordSystem(type: string, data: object, options: { readonly username: string }): Promise<unknown>
}

/** Decides about a change of the stored view. Throws to refuse it. May be called more than once. */
export type Allow = (before: View, after: View | undefined) => void

export interface ChangeOptions {
  /** The user in the recorded event. */
  readonly username: string
  readonly allow: Allow
}

/**
 * The views in a store. Each change is one transaction and leaves an event: `api:views:create`, `api:views:update` or
 * `api:views:destroy`. The events contain nothing that only the owner of a private view may read. Methods reject with
 * `STORE_FAILED`, `READ_ONLY`, `CLOSED`.
 */
export interface Views {
  /** Returns all views in the order of their names. */
  list(options?: WaitOptions): Promise<readonly View[]>
  get(id: string, options?: WaitOptions): Promise<View | undefined>
  /** `INVALID_VIEW` if the log or the owner has as many views as {@link VIEW_LIMITS} allows. */
  create(definition: ViewDefinition, owner: string): Promise<View>
  /** Missing members keep their values, also if another process changes them at the same time. `UNKNOWN_VIEW`. */
  update(id: string, change: Partial<ViewDefinition>, options: ChangeOptions): Promise<View>
  /** `UNKNOWN_VIEW`. */
  remove(id: string, options: ChangeOptions): Promise<void>
}

const PREFIX = 'view:'
/** A key that does not begin with the prefix of views, so it is not read as a view. */
const COUNT = 'views'
/** The key of the number of views of a user. The name is hashed, because it may be longer than a key. */
const ownerKey = (owner: string): string =>
  `views_of:${createHash('sha256').update(owner).digest('base64url')}`

interface CountState {
  readonly count: number
}

export const unknownView = (id: string): AuditLogError =>
  new AuditLogError('UNKNOWN_VIEW', `there is no view ${JSON.stringify(id)}`)

type States = ReadonlyMap<string, JsonValue | undefined>

const countIn = (states: States, key: string): number =>
  (states.get(key) as unknown as CountState | undefined)?.count ?? 0

const countState = (count: number): CountState | undefined => (count > 0 ? { count } : undefined)

interface Change<Result> {
  readonly states: ReadonlyMap<string, object | undefined>
  readonly result: Result
}

/** Changes states in one transaction. If `decide` throws, nothing is changed, and the call rejects with the error. */
async function change<Result>(
  store: EventStore,
  keys: readonly string[],
  decide: (states: States, now: Microseconds) => Change<Result>,
): Promise<Result> {
  let outcome: (() => Result) | undefined
  await store.updateStates(keys, (states, now) => {
    try {
      const { states: changed, result } = decide(states, now)
      outcome = () => result
      return changed as ReadonlyMap<string, JsonValue | undefined>
    } catch (error) {
      // The error is thrown outside of the transaction, because a store could treat it as its own error.
      outcome = () => {
        throw error
      }
      return new Map()
    }
  })
  return outcome!()
}

const byName = (one: View, other: View): number => {
  if (one.name === other.name) return one.id < other.id ? -1 : 1
  return one.name < other.name ? -1 : 1
}

/** Returns the members that users set, for the events about changes. */
const definitionOf = (view: View): object =>
  Object.fromEntries(SETTABLE.map((name) => [name, view[name]]))

/** The value for an event. More users may read the event than a private view. */
const shownIn = (view: View, name: keyof ViewDefinition): JsonValue =>
  view.shared || name === 'shared' ? (redact(view[name]) as JsonValue) : REDACTED

/** Returns the changes. For a private view, they contain only the names of the changed members. */
function changesOf(before: View, after: View, limits: JsonLimits): ChangeData {
  if (before.shared && after.shared)
    return changeData(definitionOf(before), definitionOf(after), limits)
  const changed = SETTABLE.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  return {
    changes: changed.map((name) => ({
      op: 'replace',
      path: `/${name}`,
      value: shownIn(after, name),
      old_value: shownIn(before, name),
    })),
  }
}

/** Throws `INVALID_VIEW` if there is no room for another view. */
function checkCounts(states: States, owner: string): void {
  const { views, viewsOfOwner } = VIEW_LIMITS
  if (countIn(states, COUNT) >= views)
    throw new AuditLogError('INVALID_VIEW', `a log has at most ${views} views`)
  if (countIn(states, ownerKey(owner)) >= viewsOfOwner)
    throw new AuditLogError('INVALID_VIEW', `a user has at most ${viewsOfOwner} views`)
}

/** The counts after views of the owner were added. */
const countsAfter = (
  states: States,
  owner: string,
  added: number,
): [key: string, value: object | undefined][] =>
  [COUNT, ownerKey(owner)].map((key) => [key, countState(countIn(states, key) + added)])

export function createViews(log: ViewsLog): Views {
  const { store, limits } = log
  const record = (
    action: string,
    { id, name, query, shared }: View,
    username: string,
    data: object = {},
  ) => {
    const content = shared ? { view: name, query } : {}
    const about = { ...content, view_id: id, shared, ...data }
    return log.recordSystem(`api:views:${action}`, about, { username })
  }
  const known = (states: States, id: string): View => {
    const value = states.get(PREFIX + id)
    if (value === undefined) throw unknownView(id)
    return value as unknown as View
  }
  return {
    async list(options) {
      const all = await readAll<View>(store, PREFIX, options)
      return [...all.values()].toSorted(byName)
    },
    get: async (id, options) =>
      isUuid(id) ? readState<View>(store, PREFIX + id, options) : undefined,
    async create(definition, owner) {
      const id = randomUUID()
      const view = await change(store, [COUNT, ownerKey(owner), PREFIX + id], (states, now) => {
        checkCounts(states, owner)
        const time = formatTimestamp(now)
        const made: View = { id, ...definition, owner, created_at: time, updated_at: time }
        return {
          states: new Map([...countsAfter(states, owner, 1), [PREFIX + id, made]]),
          result: made,
        }
      })
      await record('create', view, owner)
      return view
    },
    async update(id, given, { username, allow }) {
      if (!isUuid(id)) throw unknownView(id)
      const { before, after } = await change(store, [PREFIX + id], (states, now) => {
        const present = known(states, id)
        const next = { ...present, ...given, updated_at: formatTimestamp(now) }
        allow(present, next)
        return {
          states: new Map([[PREFIX + id, next]]),
          result: { before: present, after: next },
        }
      })
      await record('update', after, username, changesOf(before, after, limits))
      return after
    },
    async remove(id, { username, allow }) {
      // The owner of a view never changes.
      const found = isUuid(id) ? await readState<View>(store, PREFIX + id) : undefined
      if (!found) throw unknownView(id)
      const { owner } = found
      const removed = await change(store, [COUNT, ownerKey(owner), PREFIX + id], (states) => {
        const present = known(states, id)
        allow(present, undefined)
        return {
          states: new Map([...countsAfter(states, owner, -1), [PREFIX + id, undefined]]),
          result: present,
        }
      })
      await record('destroy', removed, username)
    },
  }
}
