import type { AuditLog } from '../../audit-log.js'
import type { AttributeTypes } from '../../filter/attribute-types.js'
import { readChange, readDefinition, SETTABLE, type View } from '../../views/view.js'
import { type Allow, unknownView, type Views } from '../../views/views.js'
import { listEndpoint } from '../list-endpoint.js'
import { withPlace } from '../managing/errors.js'
import {
  changing,
  type ManagementCall,
  type ManagementHandler,
  reading,
  removing,
  type Resource,
  resourceDocument,
} from '../managing/handler.js'
import {
  readChange as readChangedAttributes,
  readNewResource,
  type WritableResource,
} from '../managing/request-body.js'
import { HttpProblem } from '../problem.js'
import type { ViewsAction } from './actions.js'

/** The part of an audit log that the endpoints need. */
export type ViewedAudit = Pick<AuditLog, 'store' | 'limits' | 'recordSystem'>

const ATTRIBUTES: AttributeTypes = {
  name: 'string',
  query: 'string',
  range: 'string',
  display: 'object',
  shared: 'boolean',
  owner: 'string',
  created_at: 'timestamp',
  updated_at: 'timestamp',
}

const RESOURCE: WritableResource = {
  types: ['view', 'views'],
  code: 'INVALID_VIEW',
  settable: SETTABLE,
}

const PLACE = '/data/attributes'

type Call = ManagementCall<ViewsAction>

const maySee = ({ username, seesAll }: Call, { owner, shared }: View): boolean =>
  seesAll || shared || owner === username

const forbidden = (detail: string): HttpProblem => new HttpProblem('FORBIDDEN', detail)

/** Refuses changes of views that the user may not see, or that others own. */
const allowOwn =
  (call: Call): Allow =>
  (before) => {
    if (!maySee(call, before)) throw unknownView(call.id)
    if (!call.seesAll && before.owner !== call.username)
      throw forbidden(`the view is of ${before.owner}, and only its owner may change it`)
  }

/** Also refuses to share a view, and to change a shared one, without the right to. */
async function allowSharing(call: Call): Promise<Allow> {
  const maySharing = await call.may('views:share')
  const own = allowOwn(call)
  return (before, after) => {
    own(before, after)
    if (after?.shared && !maySharing)
      throw forbidden(`${call.username} is not allowed the action views:share`)
  }
}

/** The actions that routes have. */
export type HandledAction = Exclude<ViewsAction, 'views:share'>

type Handlers = Readonly<
  Record<Exclude<HandledAction, 'views:describe'>, ManagementHandler<ViewsAction>>
>

/** The handlers of `<path>` and `<path>/<id>`. */
export function viewHandlers(views: Views, path: string): Handlers {
  const toResource = ({ id, ...attributes }: View): Resource => ({
    type: 'view',
    id,
    attributes,
    links: { self: `${path}/${id}` },
  })
  return {
    'views:list': async (call) => {
      const all = await views.list({ signal: call.request.signal })
      const list = listEndpoint<View, unknown>({
        source: all.filter((view) => maySee(call, view)),
        attributes: ATTRIBUTES,
        resource: toResource,
      })
      return list(call.request)
    },
    'views:read': reading<ViewsAction>(async (call) => {
      const found = await views.get(call.id, { signal: call.request.signal })
      if (!found || !maySee(call, found)) throw unknownView(call.id)
      return resourceDocument(toResource(found))
    }),
    'views:create': changing<ViewsAction>(async (call, document) => {
      const given = readNewResource(document, RESOURCE)
      const definition = await withPlace(PLACE, async () => readDefinition(given))
      if (definition.shared && !(await call.may('views:share')))
        throw forbidden(`${call.username} is not allowed the action views:share`)
      const made = await views.create(definition, call.username)
      const resource = toResource(made)
      return { status: 201, location: resource.links.self, body: resourceDocument(resource) }
    }),
    'views:update': changing<ViewsAction>(async (call, document) => {
      const given = readChangedAttributes(document, call.id, RESOURCE)
      const change = await withPlace(PLACE, async () => readChange(given))
      const allow = await allowSharing(call)
      const changed = await views.update(call.id, change, { username: call.username, allow })
      return { body: resourceDocument(toResource(changed)) }
    }),
    'views:destroy': removing<ViewsAction>((call) =>
      views.remove(call.id, { username: call.username, allow: allowOwn(call) }),
    ),
  }
}
