import type { JsonLimits } from '../../event/json.js'
import { MAX_BODY_BYTES } from '../managing/request-body.js'
import { JSON_API } from '../problem.js'
import { ref } from './shapes.js'

/* OpenAPI 3.1, "Request Body Object", by the names of their schemas. */

const document = (data: object) => ({ data })

/** Examples of the bodies of requests that manage something. */
const MANAGED = {
  NewSubscription: document({
    type: 'subscription',
    attributes: { name: 'errors', channel: 'siem', filter: 'filter[type_start]=error:' },
  }),
  SubscriptionChange: document({
    type: 'subscription',
    attributes: { filter: 'filter[type_start]=audit:' },
  }),
  NewChannel: document({
    type: 'notification_channel',
    attributes: { name: 'siem', kind: 'webhook', config: { url: 'https://siem.example/daybook' } },
  }),
  ChannelChange: document({
    type: 'notification_channel',
    attributes: { config: { url: 'https://siem.example/v2' } },
  }),
  Replay: { meta: { from: '2026-11-21T00:00:00Z' } },
  Which: { meta: { which: 'all' } },
  Disable: { meta: { reason: 'the receiver moves on Friday' } },
  Nothing: {},
  NewView: document({
    type: 'view',
    attributes: {
      name: 'Denied approvals',
      query: 'filter[type_end]=approve:denied',
      range: '7d',
      display: { facets: 'username,url_params_project_code' },
    },
  }),
  ViewChange: document({ type: 'view', attributes: { shared: true } }),
}

export type ManagedBody = keyof typeof MANAGED

/** Bodies that may be left out. */
const OPTIONAL: ReadonlySet<string> = new Set<ManagedBody>(['Replay', 'Disable', 'Nothing'])

const body = (schema: string, limit: string, example: object) => ({
  required: !OPTIONAL.has(schema),
  description: OPTIONAL.has(schema)
    ? `${limit} Without a body the header \`Content-Type\` is needed too.`
    : limit,
  content: { [JSON_API]: { schema: ref(schema), example } },
})

/** The bodies of requests that manage something. */
export const managedBodies = Object.fromEntries(
  Object.entries(MANAGED).map(([name, example]) => [
    name,
    body(name, `At most ${MAX_BODY_BYTES} bytes.`, example),
  ]),
)

/** The bodies of requests that create events. */
export const eventBodies = ({ maxBytes, maxDepth }: JsonLimits) => ({
  NewEventDocument: body(
    'NewEventDocument',
    `At most ${maxBytes} bytes and ${maxDepth} levels of nesting.`,
    document({ type: 'Event', attributes: { type: 'deploy:note', text: 'went well' } }),
  ),
})
