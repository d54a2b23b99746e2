import { signal } from '@preact/signals'
import { managementPaths } from './config.js'
import { type Document, itemOf, list, type Resource, send, sendForDocument } from './documents.js'

/* Requests to the endpoints that manage subscriptions and notification channels. */

type Collection = 'subscriptions' | 'channels'

/** The last failure of a delivery. */
export interface LastError {
  readonly at: string
  readonly kind: string
  readonly status?: number
}

export type SubscriptionState =
  | 'live'
  | 'catching_up'
  | 'failing'
  | 'paused'
  | 'disabled'
  | 'broken'
  | 'unowned'

export interface Subscription {
  readonly id: string
  readonly name: string
  readonly channel: string
  /** A query string; empty for all events. */
  readonly filter: string
  readonly when_stuck: 'park' | 'hold'
  readonly owner: string | null
  readonly in_code: boolean
  readonly state: SubscriptionState
  readonly cursor: string
  readonly lag_ms: number
  readonly delivered: number
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly failing_since: string | null
  readonly last_error: LastError | null
  readonly parked: number
  readonly skipped: number
  readonly skipped_since: string | null
}

export interface Channel {
  readonly id: string
  readonly name: string
  readonly kind: string
  /** The config without secrets. */
  readonly config: Readonly<Record<string, unknown>>
  readonly enabled: boolean
  readonly disabled_reason: string | null
  readonly in_code: boolean
}

export interface Parked {
  /** The id of the event. */
  readonly id: string
  readonly created_at: string
  readonly attempts: number
  readonly error: string
}

export interface TestResult {
  readonly accepted: boolean
  readonly status: number | null
  readonly fault: string | null
  readonly duration_ms: number
}

/** Rights of the user, and the kinds of channels that can be created. */
export interface Rights {
  readonly may: Readonly<Record<string, boolean>>
  readonly kinds: readonly string[]
}

const RESOURCE_TYPES = { subscriptions: 'subscription', channels: 'notification_channel' } as const

const pathOf = (collection: Collection, ...parts: readonly string[]): string =>
  [managementPaths![collection], ...parts.map(encodeURIComponent)].join('/')

export const listSubscriptions = (): Promise<readonly Subscription[]> =>
  list(pathOf('subscriptions'))

export const listChannels = (): Promise<readonly Channel[]> => list(pathOf('channels'))

/** The oldest parked events. */
export const listParked = (id: string, limit: number): Promise<readonly Parked[]> =>
  list(`${pathOf('subscriptions', id, 'parked')}?limit=${limit}`)

/** A changed resource, and the secret that the request generated. */
export interface Saved {
  readonly id: string
  readonly name: string
  readonly secret: string | undefined
}

/** Creates a resource, or changes the one with this id. */
export async function save(
  collection: Collection,
  id: string | undefined,
  attributes: object,
): Promise<Saved> {
  const path = id === undefined ? pathOf(collection) : pathOf(collection, id)
  const body = { data: { type: RESOURCE_TYPES[collection], attributes } }
  return savedOf(await sendForDocument(id === undefined ? 'POST' : 'PATCH', path, body))
}

function savedOf({ data, meta }: Document): Saved {
  const { id, name } = itemOf(data as Resource) as { id: string; name: string }
  return { id, name, secret: meta?.secret }
}

export async function remove(collection: Collection, id: string): Promise<void> {
  await send('DELETE', pathOf(collection, id))
}

/** Runs an action whose response is the resource. */
export async function act(
  collection: Collection,
  id: string,
  action: string,
  meta?: object,
): Promise<Saved> {
  return savedOf(await sendForDocument('POST', pathOf(collection, id, action), meta && { meta }))
}

/** Runs an action whose response is its result. */
export async function resultOf<Result>(
  collection: Collection,
  id: string,
  action: string,
  meta?: object,
): Promise<Result> {
  const document = await sendForDocument('POST', pathOf(collection, id, action), meta && { meta })
  return document.meta as Result
}

/** `undefined` until loaded, when loading failed, and if the service has no such endpoints. */
export const rights = signal<Rights | undefined>(undefined)

/** True if the user may do an action, such as `subscriptions:pause`. */
export const may = (action: string): boolean => rights.value?.may[action] === true

async function loadRights(): Promise<void> {
  const { data } = await sendForDocument('GET', pathOf('subscriptions', 'me'))
  rights.value = (data as Resource).attributes as Rights
}

// Without rights the page shows nothing of subscriptions.
if (managementPaths) loadRights().catch(() => undefined)
