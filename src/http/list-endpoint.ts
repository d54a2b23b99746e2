import { bothOf } from '../filter/ast.js'
import { type AttributeTypes, declaredAttributes, readAttribute } from '../filter/declared.js'
import { parseQuery, type QueryObject } from '../filter/parse.js'
import { type ListSource, selectItems } from '../lists.js'
import type { HttpRequest, HttpResponse } from './exchange.js'
import { finish } from './finish.js'
import { checkAccept, json } from './media.js'
import { refuseParameters } from './parameters.js'
import { errorResponse, jsonapi } from './problem.js'
import { parseVisible } from './visible.js'

export interface ListEndpointOptions<Item extends object> {
  /**
   * The attributes that a query reaches, beside `id`, with their types. They are read from the
   * items' members of the same name.
   */
  readonly attributes: AttributeTypes
  /**
   * The resource type of the items, which then show `id` and the declared attributes; or a function
   * that gives the resource object (JSON:API 1.1, "Resource Objects") of an item.
   */
  readonly resource: string | ((item: Item) => object)
  /**
   * False where the list takes no parameters at all: any is refused with 400.
   * @default true
   */
  readonly filtering?: boolean
  /**
   * Most items of an answer; where there are more its status is 206.
   * @default Infinity
   */
  readonly maxLimit?: number
}

function resourceOf(type: string, types: AttributeTypes): (item: object) => object {
  const names = Object.entries(types).filter(([name]) => name !== 'id')
  return (item) => {
    const members = item as Readonly<Record<string, unknown>>
    const read = names.map(([name, type]) => [name, readAttribute(members[name], type)])
    return {
      type,
      id: readAttribute(members['id'], 'string'),
      attributes: Object.fromEntries(read),
    }
  }
}

/** Answers a `GET` or `HEAD` of a list; `visible` is a filter that holds whatever is asked. */
export type ListEndpoint<Item extends object> = (
  request: HttpRequest,
  source: ListSource<Item>,
  visible?: QueryObject['filter'],
) => Promise<HttpResponse>

/**
 * A list endpoint as the interface's section "List endpoints (general rules)" asks, as a function
 * that any HTTP server can mount. 200, or 206 where the limit has cut the answer; 400 for what is
 * wrong in the query. What the source throws is thrown on.
 */
export function listEndpoint<Item extends object>(
  options: ListEndpointOptions<Item>,
): ListEndpoint<Item> {
  const { resource, attributes: types, filtering = true, maxLimit = Infinity } = options
  const attributes = declaredAttributes(types)
  const parse = (query: string) => parseQuery(query, { attributes: types, maxLimit, strict: true })

  const toResource = typeof resource === 'function' ? resource : resourceOf(resource, types)

  return async (request, source, visible) => {
    // Outside: what is wrong with it is the host's fault, not the client's.
    const allowed = parseVisible(visible, types)
    try {
      checkAccept(request.header('accept'))
      if (!filtering) refuseParameters(request.query)
      const query = parse(request.query)
      const where = bothOf(allowed, query.where)
      const restricted = { ...query, where }
      const items = 'rows' in source ? source.rows(restricted, types) : source
      const { items: selected, truncated } = await selectItems(items, attributes, restricted)
      const self = request.query === '' ? request.path : `${request.path}?${request.query}`
      const data = selected.map((item) => toResource(item))
      const body = JSON.stringify({ jsonapi, data, links: { self } })
      return await finish(request, json(truncated ? 206 : 200, body))
    } catch (error) {
      return errorResponse(error)
    }
  }
}
