import { plainEvent } from '../../event/lazy-event.js'
import { byLog } from '../../event/event-of-log.js'
import type { LinkTable } from '../../event/links.js'
import type { Grouping } from '../../filter/ast.js'
import { type Concealed, type Concealment, readConcealed } from '../../filter/conceal.js'
import type { SealedNames } from '../../filter/sealed-names.js'
import { parseVisible, type Visible } from '../../filter/visible-filter.js'
import type { CallHost } from '../host-calls.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import type { EventsRead, UserRights } from './access.js'
import { type EventsCall, reportNothing } from './handler.js'
import { EVENTS_ACTIONS, type EventsAction } from './routes.js'

/** The key of a log; `undefined` for the log of endpoints of one log. */
type Key = string | undefined

/** The rules of the host. They get the key of the log if there are several. */
export interface HostRules<Context> {
  authorize?(context: Context, action: EventsAction, log?: string): boolean | Promise<boolean>
  visible?(context: Context, log?: string): Visible | Promise<Visible>
  conceal?(context: Context, log?: string): Concealed | Promise<Concealed>
  onRead?(context: Context, read: EventsRead, log?: string): void | Promise<void>
}

/** The part of a log that a user sees. */
export interface ShownPart {
  /** The filter of the events; `undefined` if all are visible. */
  readonly where: Grouping | undefined
  /** The view without some attributes; `undefined` if none is concealed. */
  readonly concealed: Concealment | undefined
}

/** The events of a log that the user may see. */
export interface VisiblePart extends ShownPart {
  /** The filter as the host has returned it. */
  readonly given: Visible
}

/** The host's answers about one request. */
export interface HostAccess {
  /** True if the host has `authorize`, `visible` or `conceal`. */
  readonly isRuled: boolean
  readonly may: (action: EventsAction, log?: Key) => Promise<boolean>
  readonly visible: (log?: Key) => Promise<VisiblePart>
  /** Calls `onRead`, if the host has it. */
  readonly report: ((read: EventsRead, log?: Key) => Promise<void>) | undefined
}

const named = (log: Key): [] | [string] => (log === undefined ? [] : [log])

interface Asking<Context> {
  readonly context: Context
  readonly callHost: CallHost
  /** The key of the log of endpoints of one log, if it has one. */
  readonly key?: string | undefined
  readonly links: LinkTable
  /** Names of attributes that `visible` may not use. */
  readonly sealedNames: SealedNames
  /** True if the log can open personal attributes. */
  readonly hasKeys: boolean
}

/**
 * Only an absent option allows everything, except to open personal attributes; of the answers of `authorize`, only `true`.
 */
export const hostAccess = <Context>(
  rules: HostRules<Context>,
  { context, callHost, key, links, sealedNames, hasKeys }: Asking<Context>,
): HostAccess => ({
  isRuled: (['authorize', 'visible', 'conceal'] as const).some((rule) => rules[rule] !== undefined),
  async may(action, log = key) {
    if (action === 'personal' && !(hasKeys && rules.authorize)) return false
    if (!rules.authorize) return true
    const answer: unknown = await callHost(() => rules.authorize!(context, action, ...named(log)))
    return answer === true
  },
  visible: (log = key) =>
    callHost(async () => {
      const given = rules.visible ? await rules.visible(context, ...named(log)) : 'all'
      const names = rules.conceal ? await rules.conceal(context, ...named(log)) : []
      // What is invalid is an error of the host, not of the client.
      const where = parseVisible(given)
      sealedNames.checkOption(where, 'visible')
      return { given, where, concealed: readConcealed(names, links) }
    }),
  report:
    rules.onRead &&
    ((read, log = key) => callHost(() => rules.onRead!(context, read, ...named(log)))),
})

/** The actions that read events, as `onRead` names them. */
const READS: ReadonlySet<EventsAction | undefined> = new Set([
  'list',
  'read',
  'stream',
  'count',
  'export',
])

/** True if the action reads events. */
export const isRead = (right: EventsAction | undefined): right is EventsRead['action'] =>
  READS.has(right)

/** True for a response that says something about events: also 304. */
export const isAnswer = ({ status }: HttpResponse): boolean => status < 400

/** Filters of the logs, in their order. */
export async function visibleParts(
  { visible }: HostAccess,
  logs: readonly Key[],
): Promise<readonly VisiblePart[]> {
  const parts: VisiblePart[] = []
  // The host answers one question after the other, so that the first error is the one that is thrown.
  for (const log of logs) parts.push(await visible(log))
  return parts
}

async function mayInEach(
  { may }: HostAccess,
  action: EventsAction,
  logs: readonly Key[],
): Promise<boolean> {
  for (const log of logs) if (!(await may(action, log))) return false
  return true
}

/** True if the user sees only a part of the log. */
export const isRestricted = ({ where, concealed }: ShownPart): boolean =>
  where !== undefined || concealed !== undefined

/** The rights that a user has in all of the logs at once. Events are created in one log only. */
async function rightsOf(
  access: HostAccess,
  { logs, visible }: Pick<Allowed, 'logs' | 'visible'>,
): Promise<UserRights> {
  const allowed = new Set<EventsAction>()
  const isOne = logs[0] === undefined
  for (const action of EVENTS_ACTIONS)
    if ((isOne || action !== 'create') && (await mayInEach(access, action, logs)))
      allowed.add(action)
  // The host need not provide a filter for users who may read nothing.
  const parts = visible ?? ([...allowed].some(isRead) ? await visibleParts(access, logs) : [])
  return {
    may: Object.fromEntries(
      EVENTS_ACTIONS.map((action) => [action, allowed.has(action)]),
    ) as UserRights['may'],
    restricted: parts.some(isRestricted),
  }
}

/** A request that the host allows. */
export interface Allowed {
  readonly request: HttpRequest
  readonly username: string
  /** The action that the user may do; `undefined` if there is none to ask for. */
  readonly right: EventsAction | undefined
  readonly logs: readonly Key[]
  /** Filters of the logs; `undefined` if the host was not asked for them. */
  readonly visible: readonly VisiblePart[] | undefined
}

const stateOf = (parts: readonly VisiblePart[]): string =>
  JSON.stringify(parts.map(({ where, concealed }) => [where, concealed?.names]))

/** Calls of the host that answering the request may need. */
export function hostCalls(
  access: HostAccess,
  { request: { query }, username, right, logs, visible }: Allowed,
): Pick<EventsCall, 'rights' | 'mayContinue' | 'reportRead'> {
  const { report, isRuled } = access
  return {
    rights: () => rightsOf(access, { logs, visible }),
    mayContinue: isRuled
      ? async () =>
          (right === undefined || (await mayInEach(access, right, logs))) &&
          stateOf(await visibleParts(access, logs)) === stateOf(visible ?? [])
      : undefined,
    reportRead:
      isRead(right) && report
        ? async (items) => {
            const read = { action: right, username, query }
            const found = byLog(items)
            for (const log of found.size > 0 ? found.keys() : logs)
              await report({ ...read, events: (found.get(log) ?? []).map(plainEvent) }, log)
          }
        : reportNothing,
  }
}
