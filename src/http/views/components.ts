import { DISPLAY_NAME, VIEW_LIMITS } from '../../views/view.js'
import { parameters as eventParameters } from '../events/route-parameters.js'
import { MAX_BODY_BYTES } from '../managing/request-body.js'
import {
  cacheHeaders,
  documentResponse,
  header,
  responses as shared,
} from '../openapi/responses.js'
import {
  closedObject,
  document,
  flag,
  links,
  listOf,
  object,
  ref,
  text,
} from '../openapi/shapes.js'
import { JSON_API, jsonapi } from '../problem.js'
import { VIEWS_ACTIONS } from './actions.js'

/* The parts that the table of routes refers to by name: OpenAPI 3.1, "Components Object". */

const id = { type: 'string', format: 'uuid' } as const
const time = { type: 'string', format: 'date-time' } as const

export const parameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the view.',
    schema: id,
  },
  filter: {
    ...eventParameters.filter,
    description: [
      'Conditions on `id` and the attributes, written `filter[<attribute>_<predicate>]=<value>`.',
      'A view must match all conditions, or any with `filter[m]=or`. `filter[sorts]=<attribute> <asc|desc>` sets the order.',
    ].join('\n\n'),
    example: { name_cont: 'deploy', shared_true: '1' },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of views in the response. Default: no limit.',
    schema: { type: 'integer', minimum: 1 },
  },
  'If-None-Match': eventParameters['If-None-Match'],
} as const

export type ParameterName = keyof typeof parameters

/** The members of a view that users set. */
const definition = {
  name: {
    ...text,
    minLength: 1,
    maxLength: VIEW_LIMITS.name,
    description: 'Any text without control characters. Several views may have the same name.',
  },
  query: {
    ...text,
    maxLength: VIEW_LIMITS.query,
    description:
      'A query string of the event feed without a limit: filter and sorts. Bounds of `created_at` are its absolute time range. Empty for all events.',
  },
  range: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: VIEW_LIMITS.range,
    description:
      'A time range of the page that moves with the time, such as `24h`. Null without one.',
  },
  display: {
    type: 'object',
    maxProperties: VIEW_LIMITS.displayMembers,
    propertyNames: { pattern: DISPLAY_NAME.source },
    additionalProperties: text,
    description: `What the address of the page says beside the query, such as \`columns\`, \`facets\` and \`zone\`. Together at most ${VIEW_LIMITS.display} characters.`,
  },
  shared: { ...flag, description: 'True if all users who may list views see it.' },
} as const

const view = closedObject({
  type: { const: 'view' },
  id,
  attributes: closedObject({
    ...definition,
    owner: { ...text, description: 'The user who made it.' },
    created_at: time,
    updated_at: { ...time, description: 'When it was last changed.' },
  }),
  links: links('self'),
})

const user = closedObject({
  type: { const: 'user' },
  id: { ...text, description: 'The name of the user.' },
  attributes: closedObject({
    may: closedObject(Object.fromEntries(VIEWS_ACTIONS.map((action) => [action, flag]))),
  }),
})

/** The body of a request that creates or changes a view. Other members are ignored. */
const viewBody = (...required: string[]) => ({
  type: 'object',
  properties: {
    data: {
      type: 'object',
      properties: {
        type: { enum: ['view', 'views'] },
        attributes: object(definition, required),
      },
      required: ['type', 'attributes'],
    },
  },
  required: ['data'],
})

export const schemas = {
  JsonApi: closedObject({ version: { const: jsonapi.version } }),
  View: view,
  ViewDocument: document(ref('View'), 'self'),
  ViewList: document(listOf(ref('View')), 'self'),
  UserDocument: document(user, 'self'),
  NewView: viewBody('name'),
  ViewChange: viewBody(),
} as const

const EXAMPLES = {
  NewView: {
    data: {
      type: 'view',
      attributes: {
        name: 'Denied approvals',
        query: 'filter[type_end]=approve:denied',
        range: '7d',
        display: { facets: 'username,url_params_project_code' },
      },
    },
  },
  ViewChange: { data: { type: 'view', attributes: { shared: true } } },
} as const

export type BodyName = keyof typeof EXAMPLES

/** OpenAPI 3.1, "Request Body Object". */
export const requestBody = (name: BodyName): object => ({
  required: true,
  description: `At most ${MAX_BODY_BYTES} bytes.`,
  content: { [JSON_API]: { schema: ref(name), example: EXAMPLES[name] } },
})

const uncached = { 'Cache-Control': header('The response must not be cached.', 'no-store') }

/** OpenAPI 3.1, "Response Object": all responses other than errors. */
export const responses = {
  ViewList: documentResponse('The matching views.', 'ViewList'),
  PartOfViewList: documentResponse('Some of them: more match than the limit allows.', 'ViewList'),
  View: documentResponse('The view.', 'ViewDocument', cacheHeaders),
  ChangedView: documentResponse('The view.', 'ViewDocument', uncached),
  ViewCreated: documentResponse('The new view.', 'ViewDocument', {
    ...uncached,
    Location: {
      description: 'The path of the new view.',
      required: true,
      schema: { type: 'string', format: 'uri-reference' },
    },
  }),
  Removed: { description: 'It is deleted. The response has no body.' },
  User: documentResponse('The authenticated user.', 'UserDocument'),
  Description: shared.Description,
  NotModified: shared.NotModified,
} as const

export type ResponseName = keyof typeof responses
