import { AuditLogError } from '../../errors.js'
import type { JsonObject } from '../../event/event.js'
import type { AttributeTypes } from '../../filter/attribute-types.js'
import type {
  ChannelChange,
  ChannelDefinition,
  ChannelWithSecret,
  NotificationChannel,
} from '../../subscriptions/notification-channel.js'
import { withServersOnly } from '../../event/servers-only.js'
import { listEndpoint } from '../list-endpoint.js'
import type { SubscriptionsAction } from './actions.js'
import { withPlace } from './errors.js'
import {
  changing,
  type ManagementCall,
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

/** Users who may not change a channel see only the server of a URL, because the path is often enough to post there. */
const shown = async (
  call: ManagementCall,
  channels: readonly NotificationChannel[],
): Promise<readonly NotificationChannel[]> =>
  (await call.may('notification_channels:update')) ? channels : channels.map(withServersOnly)

const resourceIn =
  (path: string) =>
  ({ id, ...attributes }: NotificationChannel): Resource => ({
    type: 'notification_channel',
    id,
    attributes,
    links: { self: `${path}/${id}` },
  })

type ChannelHandlers = Readonly<
  Record<Extract<SubscriptionsAction, `notification_channels:${string}`>, ManagementHandler>
>

type Act<Result> = (call: ManagementCall, document: JsonObject) => Promise<Result>

/** The handlers of `<path>` and the paths under it. */
export function channelHandlers(
  { subscriptions: { channels } }: ManagedAudit,
  path: string,
): ChannelHandlers {
  const toResource = resourceIn(path)

  /** The document of a channel, with the secret that the call has generated. */
  const documentOf = async (
    call: ManagementCall,
    { channel, secret }: ChannelWithSecret,
  ): Promise<string> => {
    const [one] = await shown(call, [channel])
    return resourceDocument(toResource(one!), secret === null ? undefined : { secret })
  }

  /** An action after which the response has the channel. */
  const acting = (act: Act<NotificationChannel>): ManagementHandler =>
    changing(async (call, document) => ({
      body: await documentOf(call, { channel: await act(call, document), secret: null }),
    }))

  /** The same with the secret that it has generated. */
  const withSecret = (act: Act<ChannelWithSecret>): ManagementHandler =>
    changing(async (call, document) => ({
      body: await documentOf(call, await act(call, document)),
    }))

  return {
    'notification_channels:list': async (call) => {
      const { request } = call
      // Before the filters of the request, which would reveal the omitted members.
      const all = await shown(call, await channels.list({ signal: request.signal }))
      const list = listEndpoint<NotificationChannel, unknown>({
        source: () => all,
        attributes: ATTRIBUTES,
        resource: toResource,
      })
      return list(request)
    },
    'notification_channels:read': reading(async (call) => {
      const found = await channels.get(call.id)
      if (found) return documentOf(call, { channel: found, secret: null })
      throw new AuditLogError('UNKNOWN_CHANNEL', `there is no channel ${JSON.stringify(call.id)}`)
    }),
    'notification_channels:create': changing(async (call, document) => {
      const { username } = call
      const given: JsonObject = readNewResource(document, NEW)
      const definition = given as unknown as ChannelDefinition
      const made = await withPlace(PLACE, () => channels.create(definition, { username }))
      const location = `${path}/${made.channel.id}`
      return { status: 201, location, body: await documentOf(call, made) }
    }),
    'notification_channels:update': withSecret(async ({ id, username }, document) => {
      const change = readChange(document, id, CHANGE) as ChannelChange
      return withPlace(PLACE, () => channels.update(id, change, { username }))
    }),
    'notification_channels:delete': removing(({ id, username }) =>
      channels.remove(id, { username }),
    ),
    'notification_channels:enable': acting(async ({ id, username }, document) => {
      readMeta(document)
      return channels.enable(id, { username })
    }),
    'notification_channels:disable': acting(async ({ id, username }, document) => {
      const reason = readText(readMeta(document, 'reason'), 'reason')
      return withPlace('/meta', () => channels.disable(id, { username, reason }))
    }),
    'notification_channels:rotate_secret': withSecret(async ({ id, username }, document) => {
      readMeta(document)
      return channels.rotateSecret(id, { username })
    }),
    'notification_channels:test': changing(async (call, document) => {
      readMeta(document)
      const result = await channels.test(call.id, { username: call.username })
      return { body: metaDocument(call, result) }
    }),
  }
}
