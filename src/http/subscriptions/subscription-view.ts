import { AuditLogError } from '../../errors.js'
import type { AttributeTypes } from '../../filter/attribute-types.js'
import type { SubscriptionStatus } from '../../subscriptions/status.js'
import type { Subscription } from '../../subscriptions/subscription.js'
import { type ManagementCall, type Resource, resourceDocument } from '../managing/handler.js'
import type { ManagedAudit } from './managed-audit.js'

/** The attributes of a subscription: what users decide, and its status. */
export const SUBSCRIPTION_ATTRIBUTES: AttributeTypes = {
  name: 'string',
  channel: 'string',
  filter: 'string',
  from: 'string',
  when_stuck: 'string',
  retain: 'object',
  paused: 'boolean',
  owner: 'string',
  in_code: 'boolean',
  state: 'string',
  cursor: 'timestamp',
  lag_ms: 'number',
  delivered: 'number',
  attempts: 'number',
  next_attempt_at: 'timestamp',
  failing_since: 'timestamp',
  last_error: 'object',
  parked: 'number',
  skipped: 'number',
  skipped_since: 'timestamp',
}

/** An item of a list: its id and its attributes. */
export interface Item extends Readonly<Record<string, unknown>> {
  readonly id: string
}

function toItem({ whenStuck, ...subscription }: Subscription, status: SubscriptionStatus): Item {
  return { ...subscription, when_stuck: whenStuck, ...status }
}

/** The subscriptions as users see them. */
export interface SubscriptionView {
  /** Resolves to the resources that the user may act on. */
  list(call: ManagementCall): Promise<readonly Item[]>
  /** Throws `UNKNOWN_SUBSCRIPTION`, also for one that the user may not act on. */
  check(call: ManagementCall): Promise<void>
  readonly toResource: (item: Item) => Resource
  /** The document of one. Throws `UNKNOWN_SUBSCRIPTION`. */
  documentOf(call: ManagementCall, id: string): Promise<string>
}

const unknown = (id: string): AuditLogError =>
  new AuditLogError('UNKNOWN_SUBSCRIPTION', `there is no subscription ${JSON.stringify(id)}`)

const mayAct = ({ username, seesAll }: ManagementCall, owner: unknown): boolean =>
  seesAll || owner === username

/** `path` is the path of the collection. */
export function createSubscriptionView(
  { subscriptions }: ManagedAudit,
  path: string,
): SubscriptionView {
  /** The items that the user may act on. A user who may not act on all items sees no times of hidden events in them. */
  const read = async (
    { username, seesAll }: ManagementCall,
    signal?: AbortSignal,
  ): Promise<readonly Item[]> => {
    const all = await subscriptions.list({ signal })
    const status = await subscriptions.status({ signal, ...(!seesAll && { owner: username }) })
    const statuses = new Map(status.map((one) => [one.id, one]))
    // One of another user, or one that was removed between the two reads, has no status.
    return all.flatMap((one) => (statuses.has(one.id) ? [toItem(one, statuses.get(one.id)!)] : []))
  }
  const toResource = ({ id, ...attributes }: Item): Resource => ({
    type: 'subscription',
    id,
    attributes,
    links: { self: `${path}/${id}` },
  })
  return {
    toResource,
    list: (call) => read(call, call.request.signal),
    async check(call) {
      const found = await subscriptions.get(call.id)
      if (!found || !mayAct(call, found.owner)) throw unknown(call.id)
    },
    async documentOf(call, id) {
      const found = (await read(call)).find((one) => one.id === id)
      if (!found) throw unknown(id)
      return resourceDocument(toResource(found))
    },
  }
}
