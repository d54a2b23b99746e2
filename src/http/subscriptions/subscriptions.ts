import { AuditLogError } from '../../errors.js'
import type { JsonObject } from '../../event/event.js'
import type {
  SubscriptionChange,
  SubscriptionDefinition,
} from '../../subscriptions/subscription.js'
import { listEndpoint } from '../list-endpoint.js'
import { withPlace } from './errors.js'
import { changing, type ManagementHandler, reading, removing } from '../managing/handler.js'
import type { ManagedAudit } from './managed-audit.js'
import { readChange, readNewResource, type WritableResource } from '../managing/request-body.js'
import { createSubscriptionView, type Item, SUBSCRIPTION_ATTRIBUTES } from './subscription-view.js'

const CHANGE: WritableResource = {
  types: ['subscription', 'subscriptions'],
  code: 'INVALID_SUBSCRIPTION',
  settable: ['name', 'channel', 'filter', 'when_stuck', 'retain'],
}
const NEW: WritableResource = { ...CHANGE, settable: [...CHANGE.settable, 'from', 'paused'] }

const PLACE = '/data/attributes'

/** The definition in the attributes of a request. Values of wrong types are found by the log, except for the filter. */
function definitionOf({ when_stuck, ...attributes }: JsonObject): JsonObject {
  const { filter } = attributes
  if (filter !== undefined && typeof filter !== 'string')
    throw new AuditLogError('INVALID_SUBSCRIPTION', 'filter must be a text', {
      pointer: `${PLACE}/filter`,
    })
  return when_stuck === undefined ? attributes : { ...attributes, whenStuck: when_stuck }
}

type Actions = 'list' | 'read' | 'create' | 'update' | 'delete'

/** The handlers of `<path>` and `<path>/<id>`. */
export function subscriptionHandlers(
  audit: ManagedAudit,
  path: string,
): Readonly<Record<`subscriptions:${Actions}`, ManagementHandler>> {
  const { subscriptions } = audit
  const view = createSubscriptionView(audit, path)
  return {
    'subscriptions:list': async (call) => {
      const items = await view.list(call)
      const list = listEndpoint<Item, unknown>({
        source: () => items,
        attributes: SUBSCRIPTION_ATTRIBUTES,
        resource: view.toResource,
      })
      return list(call.request)
    },
    'subscriptions:read': reading(async (call) => {
      await view.check(call)
      return view.documentOf(call, call.id)
    }),
    'subscriptions:create': changing(async (call, document) => {
      const { username } = call
      const given = definitionOf(readNewResource(document, NEW))
      const definition = { ...given, owner: username } as unknown as SubscriptionDefinition
      const { id } = await withPlace(PLACE, () => subscriptions.create(definition, { username }))
      return { status: 201, location: `${path}/${id}`, body: await view.documentOf(call, id) }
    }),
    'subscriptions:update': changing(async (call, document) => {
      const { id, username } = call
      await view.check(call)
      const change: SubscriptionChange = definitionOf(readChange(document, id, CHANGE))
      await withPlace(PLACE, () => subscriptions.update(id, change, { username }))
      return { body: await view.documentOf(call, id) }
    }),
    'subscriptions:delete': removing(async (call) => {
      await view.check(call)
      await subscriptions.remove(call.id, { username: call.username })
    }),
  }
}
