import {
  AuditLog,
  AuditLogError,
  type AuditEvent,
  type Channel,
  type ChannelKind,
  type EventStore,
  type JsonObject,
  type SubscriptionsOptions,
} from 'daybook'
import {
  basicAuth,
  type KoaMiddleware,
  recordRequests,
  subscriptionRoutes,
  type SubscriptionRoutesOptions,
  type SubscriptionsAction,
} from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes } from 'daybook/workflow'
import Koa from 'koa'
import { onTestFinished } from 'vitest'
import {
  addToParkedCount,
  changeStates,
  keyOf,
  parkedKey,
  type ParkedState,
} from '../../src/subscriptions/states.js'
import {
  checkAnswersBy,
  JSON_API,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.js'
import { listen } from '../support/node-server.js'
import { type AnswerCheck, managementCheck } from '../support/openapi.js'

/* A service whose users manage subscriptions and channels over HTTP. */

export const SUBSCRIPTIONS = '/api/subscriptions'
export const CHANNELS = '/api/notification_channels'

export const KEY = Buffer.alloc(32, 5).toString('base64')

/** The events that channels of the kind `notebook` got, by page. */
export type Pages = Map<string, AuditEvent[]>

/** A kind that writes events to a page. It has a secret of the user, `password`, and a generated one. */
export const notebook = (pages: Pages): ChannelKind => {
  let made = 0
  return {
    read({ page, password, ...others }, present) {
      const [other] = Object.keys(others)
      if (other !== undefined)
        throw new AuditLogError('INVALID_CHANNEL', `config has no member ${other}`, {
          pointer: `/config/${other}`,
        })
      const chosen = page ?? present?.config['page']
      if (typeof chosen !== 'string')
        throw new AuditLogError('INVALID_CHANNEL', 'page must be a text', {
          pointer: '/config/page',
        })
      const secret = present ? undefined : `nb_${(made += 1)}`
      const secrets: JsonObject = {
        ...present?.secrets,
        ...(secret !== undefined && { secret }),
        ...(password !== undefined && { password }),
      }
      return { config: { page: chosen }, secrets, secret }
    },
    open: ({ config }) => ({
      kind: 'notebook',
      deliver(events) {
        const page = config['page'] as string
        if (page === 'full') throw new Error('the page is full')
        pages.set(page, [...(pages.get(page) ?? []), ...events])
      },
    }),
    rotate({ config, secrets }) {
      const secret = `nb_${(made += 1)}`
      return { config, secrets: { ...secrets, secret }, secret }
    },
  }
}

export interface ManagedServer extends RoutesServer {
  readonly audit: AuditLog
  /** The deliveries to channels of the kind `notebook`. */
  readonly pages: Pages
  /** Creates a subscription with this name and returns its id. */
  create(name: string, attributes?: object, user?: string): Promise<string>
  /** Creates a channel of the kind `notebook` and returns its id. */
  createChannel(name: string, config?: object): Promise<string>
  /** Parks events of a subscription, which are not in the log. */
  park(id: string, ...states: readonly Partial<ParkedState>[]): Promise<void>
}

export interface ManagingOptions {
  /** By default all users may do everything. */
  readonly routes?: SubscriptionRoutesOptions
  /** Options beside a channel `search` and the kind `notebook`. */
  readonly subscriptions?: SubscriptionsOptions
}

/** Parks events of a subscription, as the third failed delivery of each would do. */
export async function parkEvents(
  store: EventStore,
  id: string,
  ...states: readonly Partial<ParkedState>[]
): Promise<void> {
  for (const [i, state] of states.entries()) {
    const created_at = `2026-01-01T00:00:0${i}.000000Z`
    const last_error = { at: created_at, kind: 'status', status: 422 } as const
    const parked = { created_at, parked_at: created_at, attempts: 3, error: 'no', last_error }
    const event_id = `00000000-0000-4000-8000-00000000000${i}`
    const key = parkedKey(id, created_at)
    await changeStates(store, [key, keyOf('parkedCount', id)], (all) => {
      all.set(key, { ...parked, event_id, ...state })
      addToParkedCount(all, id, 1)
    })
  }
}

export interface RoutesServer {
  readonly url: string
  /** Errors that reached Koa. */
  readonly errors: unknown[]
  /** Sends a request as `ann`. The OpenAPI document must declare each response. */
  send(path: string, request?: RawRequest): Promise<RawResponse>
}

/**
 * A service with these routes that records its requests. The service and the log are closed at the end of the test.
 */
export async function serveRoutes(
  audit: AuditLog,
  routes: KoaMiddleware,
  check: AnswerCheck,
): Promise<RoutesServer> {
  const errors: unknown[] = []
  const app = new Koa()
  app.silent = true
  app.on('error', (error: unknown) => errors.push(error))
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann', bob: 'bob', eve: 'eve' } }))
  app.use(routes)
  const { url, close } = await listen(app.callback())
  const endChecks = checkAnswersBy(url, check)
  onTestFinished(async () => {
    endChecks()
    await close()
    await audit.close()
  })
  return { url, errors, send: (path, request) => send(url, path, request) }
}

export async function serveManagement(options: ManagingOptions = {}): Promise<ManagedServer> {
  const { routes = { authorize: () => 'all' }, subscriptions } = options
  const pages: Pages = new Map()
  const store = memoryStore()
  const audit: AuditLog = new AuditLog({
    store,
    types: workflowEventTypes,
    subscriptions: {
      channels: { search: { deliver: () => {} } },
      kinds: { notebook: notebook(pages) },
      secretsKey: KEY,
      ...subscriptions,
    },
  })
  const check = managementCheck(routes.path ?? '/api')
  const server = await serveRoutes(audit, subscriptionRoutes(audit, routes), check)
  const created = (response: RawResponse): string => {
    if (response.status !== 201) throw new Error(response.body)
    return resourceOf(response).id
  }
  return {
    ...server,
    audit,
    pages,
    async create(name, attributes = {}, user = 'ann') {
      const given = { name, channel: 'search', ...attributes }
      return created(await server.send(SUBSCRIPTIONS, { ...newSubscription(given), user }))
    },
    async createChannel(name, config = { page: name }) {
      const given = { name, kind: 'notebook', config }
      return created(await server.send(CHANNELS, newChannel(given)))
    },
    park: (id, ...states) => parkEvents(store, id, ...states),
  }
}

/** Like {@link serveManagement}, with this function as the channel `search`. */
export const serveDelivering = (deliver: Channel['deliver']): Promise<ManagedServer> =>
  serveManagement({ subscriptions: { channels: { search: { deliver } } } })

export interface ResourceObject {
  readonly type: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: { readonly self: string }
}

export const resourceOf = ({ body }: RawResponse): ResourceObject =>
  (JSON.parse(body) as { data: ResourceObject }).data

export const namesOf = ({ body }: RawResponse): unknown[] =>
  (JSON.parse(body) as { data: ResourceObject[] }).data.map(({ attributes }) => attributes['name'])

export const metaOf = ({ body }: RawResponse): unknown =>
  (JSON.parse(body) as { meta?: unknown }).meta

/** A request with this document. */
export const withDocument = (method: 'POST' | 'PATCH', document?: unknown): RawRequest => ({
  method,
  headers: { 'content-type': JSON_API },
  ...(document !== undefined && { body: JSON.stringify(document) }),
})

export const withResource = (
  method: 'POST' | 'PATCH',
  type: string,
  attributes: object,
): RawRequest => withDocument(method, { data: { type, attributes } })

export const newSubscription = (attributes: object): RawRequest =>
  withResource('POST', 'subscription', attributes)
export const subscriptionChange = (attributes: object): RawRequest =>
  withResource('PATCH', 'subscription', attributes)
export const newChannel = (attributes: object): RawRequest =>
  withResource('POST', 'notification_channel', attributes)
export const channelChange = (attributes: object): RawRequest =>
  withResource('PATCH', 'notification_channel', attributes)

/** An action, with its arguments. */
export const action = (meta?: object): RawRequest => withDocument('POST', meta && { meta })
export const REMOVAL: RawRequest = { method: 'DELETE' }

/** One request for each action. Requests for a single resource use these ids. */
export const requests = (
  subscription: string,
  channel: string,
): [action: SubscriptionsAction, path: string, request: RawRequest][] => {
  const one = `${SUBSCRIPTIONS}/${subscription}`
  const other = `${CHANNELS}/${channel}`
  return [
    ['subscriptions:list', SUBSCRIPTIONS, {}],
    ['subscriptions:read', one, {}],
    ['subscriptions:create', SUBSCRIPTIONS, newSubscription({ name: 'new', channel: 'search' })],
    ['subscriptions:update', one, subscriptionChange({ filter: '' })],
    ['subscriptions:pause', `${one}/pause`, action()],
    ['subscriptions:resume', `${one}/resume`, action()],
    ['subscriptions:replay', `${one}/replay`, action({ from: 'now' })],
    ['subscriptions:test', `${one}/test`, action()],
    ['subscriptions:parked', `${one}/parked`, {}],
    ['subscriptions:redrive', `${one}/redrive`, action({ which: [] })],
    ['subscriptions:discard', `${one}/discard`, action({ which: [] })],
    ['subscriptions:describe', `${SUBSCRIPTIONS}/openapi.json`, {}],
    ['subscriptions:delete', one, REMOVAL],
    ['notification_channels:list', CHANNELS, {}],
    ['notification_channels:read', other, {}],
    [
      'notification_channels:create',
      CHANNELS,
      newChannel({ name: 'new-channel', kind: 'notebook', config: { page: 'p' } }),
    ],
    ['notification_channels:update', other, channelChange({ config: {} })],
    ['notification_channels:disable', `${other}/disable`, action()],
    ['notification_channels:enable', `${other}/enable`, action()],
    ['notification_channels:rotate_secret', `${other}/rotate_secret`, action()],
    ['notification_channels:test', `${other}/test`, action()],
    ['notification_channels:delete', other, REMOVAL],
  ]
}
