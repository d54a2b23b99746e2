import type { SubscriptionsAction } from './actions.js'
import type { BodyName, ParameterName, ResponseName } from './components.js'

/** An endpoint and its description. */
export interface SubscriptionsRoute {
  /** `me` is allowed for every authenticated user. */
  readonly action: SubscriptionsAction | 'me'
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the mount path. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly ParameterName[]
  readonly body?: BodyName
  readonly responses: Readonly<Record<number, ResponseName>>
  /** Error statuses in addition to those that every endpoint has. */
  readonly problems: readonly number[]
}

const READ = { 304: 'NotModified' } as const
const LIST_PROBLEMS = [400, 406] as const
const READ_PROBLEMS = [400, 404, 406] as const
const CREATE_PROBLEMS = [400, 406, 409, 413, 415, 422] as const
const CHANGE_PROBLEMS = [400, 404, 406, 409, 413, 415, 422] as const

const QUERY = ['filter', 'limit', 'If-None-Match'] as const
const ONE = ['id', 'If-None-Match'] as const

/** A route that acts on one resource. */
const act = (
  collection: 'subscriptions' | 'notification_channels',
  name: string,
  route: Pick<SubscriptionsRoute, 'summary' | 'description' | 'responses'> & { body?: BodyName },
): SubscriptionsRoute => ({
  action: `${collection}:${name}` as SubscriptionsAction,
  method: 'POST',
  path: `/${collection}/{id}/${name}`,
  parameters: ['id'],
  body: 'Nothing',
  problems: CHANGE_PROBLEMS,
  ...route,
})

const SUBSCRIPTION = { 200: 'ChangedSubscription' } as const
const CHANNEL = { 200: 'ChangedChannel' } as const

const subscriptions: readonly SubscriptionsRoute[] = [
  {
    action: 'subscriptions:list',
    method: 'GET',
    path: '/subscriptions',
    summary: 'List subscriptions',
    description:
      'The subscriptions that the user may see, by name, with their state. Status 206 means that more match than the limit allows.',
    parameters: QUERY,
    responses: { 200: 'SubscriptionList', 206: 'PartOfSubscriptionList', ...READ },
    problems: LIST_PROBLEMS,
  },
  {
    action: 'subscriptions:create',
    method: 'POST',
    path: '/subscriptions',
    summary: 'Create a subscription',
    description: 'Its owner is the authenticated user. Events recorded from then on are delivered.',
    parameters: [],
    body: 'NewSubscription',
    responses: { 201: 'SubscriptionCreated' },
    problems: CREATE_PROBLEMS,
  },
  {
    action: 'me',
    method: 'GET',
    path: '/subscriptions/me',
    summary: 'Read what the user may do',
    description:
      'The name and the rights of the authenticated user, and the kinds of channels that can be created.',
    parameters: ['If-None-Match'],
    responses: { 200: 'User', ...READ },
    problems: LIST_PROBLEMS,
  },
  {
    action: 'subscriptions:describe',
    method: 'GET',
    path: '/subscriptions/openapi.json',
    summary: 'Describe the endpoints',
    description: 'This document.',
    parameters: ['If-None-Match'],
    responses: { 200: 'Description', ...READ },
    problems: LIST_PROBLEMS,
  },
  {
    action: 'subscriptions:read',
    method: 'GET',
    path: '/subscriptions/{id}',
    summary: 'Read one subscription',
    description:
      'The response is 404 for a missing subscription and for one that the user may not see.',
    parameters: ONE,
    responses: { 200: 'Subscription', ...READ },
    problems: READ_PROBLEMS,
  },
  {
    action: 'subscriptions:update',
    method: 'PATCH',
    path: '/subscriptions/{id}',
    summary: 'Change a subscription',
    description: 'Attributes that are not sent keep their value.',
    parameters: ['id'],
    body: 'SubscriptionChange',
    responses: SUBSCRIPTION,
    problems: CHANGE_PROBLEMS,
  },
  {
    action: 'subscriptions:delete',
    method: 'DELETE',
    path: '/subscriptions/{id}',
    summary: 'Remove a subscription',
    description: 'Its parked deliveries are removed too.',
    parameters: ['id'],
    responses: { 204: 'Removed' },
    problems: [400, 404, 409],
  },
  act('subscriptions', 'pause', {
    summary: 'Pause a subscription',
    description: 'It keeps its cursor.',
    responses: SUBSCRIPTION,
  }),
  act('subscriptions', 'resume', {
    summary: 'Resume a subscription',
    description: 'Deliveries go on where they were paused.',
    responses: SUBSCRIPTION,
  }),
  act('subscriptions', 'replay', {
    summary: 'Deliver events again',
    description: 'The events are delivered with the same ids.',
    body: 'Replay',
    responses: SUBSCRIPTION,
  }),
  act('subscriptions', 'test', {
    summary: 'Test a subscription',
    description: 'Delivers one event of the type `daybook:test`, which is not stored.',
    responses: { 200: 'TestResult' },
  }),
  act('subscriptions', 'redrive', {
    summary: 'Deliver parked events',
    description:
      'Tries to deliver parked events again, out of order. The response is sent when all of them were tried. If the client disconnects, the rest stays parked.',
    body: 'Which',
    responses: { 200: 'Redriven' },
  }),
  act('subscriptions', 'discard', {
    summary: 'Discard parked events',
    description: 'They are never delivered. The events stay in the log.',
    body: 'Which',
    responses: { 200: 'Discarded' },
  }),
  {
    action: 'subscriptions:parked',
    method: 'GET',
    path: '/subscriptions/{id}/parked',
    summary: 'List parked events',
    description:
      'Events that could not be delivered and were set aside, oldest first. Their ids are those of the events. Status 206 means that more match than the limit allows.',
    parameters: ['id', ...QUERY],
    responses: { 200: 'ParkedList', 206: 'PartOfParkedList', ...READ },
    problems: READ_PROBLEMS,
  },
]

const channels: readonly SubscriptionsRoute[] = [
  {
    action: 'notification_channels:list',
    method: 'GET',
    path: '/notification_channels',
    summary: 'List channels',
    description:
      'The channels that users created and those in the code of running processes, by name. Status 206 means that more match than the limit allows.',
    parameters: QUERY,
    responses: { 200: 'ChannelList', 206: 'PartOfChannelList', ...READ },
    problems: LIST_PROBLEMS,
  },
  {
    action: 'notification_channels:create',
    method: 'POST',
    path: '/notification_channels',
    summary: 'Create a channel',
    description:
      'Secrets are stored encrypted and are never returned, except for a generated one, which `meta.secret` of this response has.',
    parameters: [],
    body: 'NewChannel',
    responses: { 201: 'ChannelCreated' },
    problems: CREATE_PROBLEMS,
  },
  {
    action: 'notification_channels:read',
    method: 'GET',
    path: '/notification_channels/{id}',
    summary: 'Read one channel',
    description: 'The response has none of its secrets.',
    parameters: ONE,
    responses: { 200: 'Channel', ...READ },
    problems: READ_PROBLEMS,
  },
  {
    action: 'notification_channels:update',
    method: 'PATCH',
    path: '/notification_channels/{id}',
    summary: 'Change a channel',
    description: 'Attributes and members of `config` that are not sent keep their value.',
    parameters: ['id'],
    body: 'ChannelChange',
    responses: CHANNEL,
    problems: CHANGE_PROBLEMS,
  },
  {
    action: 'notification_channels:delete',
    method: 'DELETE',
    path: '/notification_channels/{id}',
    summary: 'Remove a channel',
    description: 'The response is 409 while a subscription uses it.',
    parameters: ['id'],
    responses: { 204: 'Removed' },
    problems: [400, 404, 409],
  },
  act('notification_channels', 'enable', {
    summary: 'Enable a channel',
    description: 'Deliveries go on with the events that come from then on.',
    responses: CHANNEL,
  }),
  act('notification_channels', 'disable', {
    summary: 'Disable a channel',
    description:
      'Events pass without being delivered. Their subscriptions count them as `skipped`, and `replay` delivers them.',
    body: 'Disable',
    responses: CHANNEL,
  }),
  act('notification_channels', 'rotate_secret', {
    summary: 'Replace the secret of a channel',
    description: 'The former secret stays valid for 24 hours. `meta.secret` has the new one.',
    responses: CHANNEL,
  }),
  act('notification_channels', 'test', {
    summary: 'Test a channel',
    description: 'Delivers one event of the type `daybook:test`, which is not stored.',
    responses: { 200: 'TestResult' },
  }),
]

/** All endpoints. */
export const managementRoutes: readonly SubscriptionsRoute[] = [...subscriptions, ...channels]
