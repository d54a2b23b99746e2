import { AuditLogError } from '../../errors.js'
import type { JsonObject } from '../../event/event.js'
import type { AttributeTypes } from '../../filter/declared.js'
import type {
  ChannelChange,
  ChannelDefinition,
  ChannelWithSecret,
  NotificationChannel,
} from '../../subscriptions/notification-channel.js'
import { listEndpoint } from '../list-endpoint.js'
import type { SubscriptionsAction } from './actions.js'
import { withPlace } from './errors.js'
import {
  changing,
  type ManagementHandler,
  metaDocument,
  reading,
  removing,
  type Resource,
  resourceDocument,
} from '../managing/handler.js'
import type { ManagedAudit } from './managed-audit.js'
import { readChange, readNewResource, type WritableResource } from '../managing/request-body.js'
import { readMeta, readText } from './action-arguments.js'

const ATTRIBUTES: AttributeTypes = {
  name: 'string',
  kind: 'string',
  config: 'object',
  enabled: 'boolean',
  disabled_reason: 'string',
  in_code: 'boolean',
}

const CHANGE: WritableResource = {
  types: ['notification_channel', 'notification_channels'],
  code: 'INVALID_CHANNEL',
  settable: ['name', 'config'],
}
const NEW: WritableResource = { ...CHANGE, settable: ['name', 'kind', 'config'] }

const PLACE = '/data/attributes'

type ChannelHandlers = Readonly<
  Record<Extract<SubscriptionsAction, `notification_channels:${string}`>, ManagementHandler>
>

/** The handlers of `<path>` and the paths under it. */
export function channelHandlers(
  { subscriptions: { channels } }: ManagedAudit,
  path: string,
): ChannelHandlers {
  const toResource = ({ id, ...attributes }: NotificationChannel): Resource => ({
    type: 'notification_channel',
    id,
    attributes,
    links: { self: `${path}/${id}` },
  })

  /** The document of a channel, with the secret that the call has generated. */
  const withSecret = ({ channel, secret }: ChannelWithSecret): string =>
    resourceDocument(toResource(channel), secret === null ? undefined : { secret })

  return {
    'notification_channels:list': async ({ request }) => {
      const all = await channels.list({ signal: request.signal })
      const list = listEndpoint<NotificationChannel, unknown>({
        source: () => all,
        attributes: ATTRIBUTES,
        resource: toResource,
      })
      return list(request)
    },
    'notification_channels:read': reading(async ({ id }) => {
      const found = await channels.get(id)
      if (found) return resourceDocument(toResource(found))
      throw new AuditLogError('UNKNOWN_CHANNEL', `there is no channel ${JSON.stringify(id)}`)
    }),
    'notification_channels:create': changing(async ({ username }, document) => {
      const given: JsonObject = readNewResource(document, NEW)
      const definition = given as unknown as ChannelDefinition
      const made = await withPlace(PLACE, () => channels.create(definition, { username }))
      return { status: 201, location: `${path}/${made.channel.id}`, body: withSecret(made) }
    }),
    'notification_channels:update': changing(async ({ id, username }, document) => {
      const change = readChange(document, id, CHANGE) as ChannelChange
      return {
        body: withSecret(await withPlace(PLACE, () => channels.update(id, change, { username }))),
      }
    }),
    'notification_channels:delete': removing(({ id, username }) =>
      channels.remove(id, { username }),
    ),
    'notification_channels:enable': changing(async ({ id, username }, document) => {
      readMeta(document)
      return { body: resourceDocument(toResource(await channels.enable(id, { username }))) }
    }),
    'notification_channels:disable': changing(async ({ id, username }, document) => {
      const reason = readText(readMeta(document, 'reason'), 'reason')
      const disabled = await withPlace('/meta', () => channels.disable(id, { username, reason }))
      return { body: resourceDocument(toResource(disabled)) }
    }),
    'notification_channels:rotate_secret': changing(async ({ id, username }, document) => {
      readMeta(document)
      return { body: withSecret(await channels.rotateSecret(id, { username })) }
    }),
    'notification_channels:test': changing(async (call, document) => {
      readMeta(document)
      const result = await channels.test(call.id, { username: call.username })
      return { body: metaDocument(call, result) }
    }),
  }
}
