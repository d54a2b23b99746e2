import type { JsonObject } from '../../event/event.js'
import type { AttributeTypes } from '../../filter/attribute-types.js'
import { listEndpoint } from '../list-endpoint.js'
import { withPlace } from './errors.js'
import {
  changing,
  type ManagementCall,
  type ManagementHandler,
  metaDocument,
} from '../managing/handler.js'
import type { ManagedAudit } from './managed-audit.js'
import { readMeta, readText, readWhich } from './action-arguments.js'
import { createSubscriptionView, type Item } from './subscription-view.js'

const PARKED_ATTRIBUTES: AttributeTypes = {
  created_at: 'timestamp',
  parked_at: 'timestamp',
  attempts: 'number',
  error: 'string',
  last_error: 'object',
}

const PARKED_PAGE = 1000

async function* parkedOf(
  { subscriptions }: ManagedAudit,
  { id, request: { signal } }: ManagementCall,
): AsyncGenerator<Item, void, void> {
  let after: string | undefined
  for (;;) {
    const page = await subscriptions.parked(id, { after, limit: PARKED_PAGE, signal })
    for (const { event_id, ...attributes } of page) yield { id: event_id, ...attributes }
    if (page.length < PARKED_PAGE) return
    after = page.at(-1)!.created_at
  }
}

type Act<Result> = (call: ManagementCall, document: JsonObject) => Promise<Result>

type Actions = 'pause' | 'resume' | 'replay' | 'test' | 'parked' | 'redrive' | 'discard'

/** The handlers of the paths under `<path>/<id>`. */
export function subscriptionActionHandlers(
  audit: ManagedAudit,
  path: string,
): Readonly<Record<`subscriptions:${Actions}`, ManagementHandler>> {
  const { subscriptions } = audit
  const view = createSubscriptionView(audit, path)

  /** An action after which the response has the subscription. */
  const acting = (act: Act<unknown>): ManagementHandler =>
    changing(async (call, document) => {
      await view.check(call)
      await act(call, document)
      return { body: await view.documentOf(call, call.id) }
    })

  /** An action after which the response has its result. */
  const resulting = (act: Act<object>): ManagementHandler =>
    changing(async (call, document) => {
      await view.check(call)
      return { body: metaDocument(call, await act(call, document)) }
    })

  return {
    'subscriptions:pause': acting(async ({ id, username }, document) => {
      readMeta(document)
      await subscriptions.pause(id, { username })
    }),
    'subscriptions:resume': acting(async ({ id, username }, document) => {
      readMeta(document)
      await subscriptions.resume(id, { username })
    }),
    'subscriptions:replay': acting(async ({ id, username }, document) => {
      const from = readText(readMeta(document, 'from'), 'from') ?? undefined
      await withPlace('/meta', () => subscriptions.replay(id, { from, username }))
    }),
    'subscriptions:test': resulting(async ({ id, username }, document) => {
      readMeta(document)
      return subscriptions.test(id, { username })
    }),
    'subscriptions:parked': async (call) => {
      await view.check(call)
      const list = listEndpoint<Item, unknown>({
        source: () => parkedOf(audit, call),
        attributes: PARKED_ATTRIBUTES,
        resource: ({ id, ...attributes }) => ({ type: 'parked_delivery', id, attributes }),
      })
      return list(call.request)
    },
    'subscriptions:redrive': resulting(async ({ id, username, request }, document) => {
      const which = readWhich(document)
      return subscriptions.redrive(id, which, { username, signal: request.signal })
    }),
    'subscriptions:discard': resulting(async ({ id, username }, document) => {
      const which = readWhich(document)
      return { discarded: await subscriptions.discard(id, which, { username }) }
    }),
  }
}
