import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { changeData } from '../event/changes.js'
import type { JsonValue } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { isUuid } from '../event/uuid.js'
import { readAll, readState } from '../store/read-states.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type View, type ViewDefinition, VIEW_LIMITS } from './view.js'

/** The part of an audit log that views need. */
export interface ViewsLog {
  readonly store: EventStore
  readonly limits: JsonLimits
  recordSystem(type: string, data: object, options: { readonly username: string }): Promise<unknown>
}

/** Decides about a change of the stored view. What it refuses, it throws. May be called more than once. */
export type Allow = (before: View, after: View | undefined) => void

export interface ChangeOptions {
  /** The user whom the recorded event names. */
  readonly username: string
  readonly allow: Allow
}

/**
 * The views in a store. Each change is one transaction and leaves an event: `api:views:create`, `api:views:update` or
 * `api:views:destroy`. Methods reject with `STORE_FAILED`, `READ_ONLY`, `CLOSED`.
 */
export interface Views {
  /** In the order of their names. */
  list(options?: WaitOptions): Promise<readonly View[]>
  get(id: string, options?: WaitOptions): Promise<View | undefined>
  /** `INVALID_VIEW` if the log has {@link VIEW_LIMITS.views} already. */
  create(definition: ViewDefinition, owner: string): Promise<View>
  /** Members that are not given keep their value, also if another process changes them at once. `UNKNOWN_VIEW`. */
  update(id: string, change: Partial<ViewDefinition>, options: ChangeOptions): Promise<View>
  /** `UNKNOWN_VIEW`. */
  remove(id: string, options: ChangeOptions): Promise<void>
}

const PREFIX = 'view:'
/** Does not begin with the prefix, so it is not read as a view. */
const COUNT = 'views'

interface CountState {
  readonly count: number
}

export const unknownView = (id: string): AuditLogError =>
  new AuditLogError('UNKNOWN_VIEW', `there is no view ${JSON.stringify(id)}`)

const countIn = (value: JsonValue | undefined): number =>
  (value as unknown as CountState | undefined)?.count ?? 0

type States = ReadonlyMap<string, JsonValue | undefined>

interface Change<Result> {
  readonly states: ReadonlyMap<string, object | undefined>
  readonly result: Result
}

/** Changes states in one transaction. What `decide` throws is thrown, and nothing is changed. */
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
      // A store may take an error for its own.
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

/** What users decide, for the events about changes. */
const definitionOf = ({ name, query, range, display, shared }: View): ViewDefinition => ({
  name,
  query,
  range,
  display,
  shared,
})

export function createViews(log: ViewsLog): Views {
  const { store, limits } = log
  const record = (
    action: string,
    { id, name, query, shared }: View,
    username: string,
    data: object = {},
  ) => {
    const about = { view: name, view_id: id, query, shared, ...data }
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
      const view = await change(store, [COUNT, PREFIX + id], (states, now) => {
        const count = countIn(states.get(COUNT))
        if (count >= VIEW_LIMITS.views)
          throw new AuditLogError('INVALID_VIEW', `a log has at most ${VIEW_LIMITS.views} views`)
        const time = formatTimestamp(now)
        const made: View = { id, ...definition, owner, created_at: time, updated_at: time }
        const changed = new Map<string, object>([
          [COUNT, { count: count + 1 }],
          [PREFIX + id, made],
        ])
        return { states: changed, result: made }
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
      const changes = changeData(definitionOf(before), definitionOf(after), limits)
      await record('update', after, username, changes)
      return after
    },
    async remove(id, { username, allow }) {
      if (!isUuid(id)) throw unknownView(id)
      const removed = await change(store, [COUNT, PREFIX + id], (states) => {
        const present = known(states, id)
        allow(present, undefined)
        const count = countIn(states.get(COUNT)) - 1
        const changed = new Map<string, object | undefined>([
          [COUNT, count > 0 ? { count } : undefined],
          [PREFIX + id, undefined],
        ])
        return { states: changed, result: present }
      })
      await record('destroy', removed, username)
    },
  }
}
