import { bothOf } from '../filter/ast.js'
import { type AttributeTypes, declaredAttributes, readAttribute } from '../filter/declared.js'
import { parseQuery, type QueryObject } from '../filter/parse.js'
import { type ListSource, selectItems } from '../lists/list-source.js'
import type { HttpRequest, HttpResponse } from './exchange.js'
import { finalizeResponse } from './finalize-response.js'
import { checkAccept, jsonResponse } from './media.js'
import { refuseParameters } from './parameters.js'
import { errorResponse, jsonapi } from './problem.js'
import { parseVisible } from './visible-filter.js'

type PerRequest<Context, Value> = (context: Context) => Value | Promise<Value>

/** `Context` is the request as its server knows it. */
export interface ListEndpointOptions<Item extends object, Context> {
  /**
   * The items, or a function that gives them for a request: an array, any other iterable, an async
   * one, or a table (`sqliteTable`, `postgresTable`). What it throws is the host's to answer. What can be
   * gone through once only, such as a generator, has to be given by a function.
   */
  readonly source: ListSource<Item> | PerRequest<Context, ListSource<Item>>
  /** A filter that holds for the request, whatever it asks: `{ owner_eq: 'ann' }`. */
  readonly visible?: PerRequest<Context, QueryObject['filter']>
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

/**
 * `GET` or `HEAD` of a list as the interface's section "List endpoints (general rules)" asks, as a function
 * that any HTTP server can mount. 200, or 206 where the limit has cut the answer; 400 for what is
 * wrong in the query. What the source throws is thrown on.
 */
export function listEndpoint<Item extends object, Context>(
  options: ListEndpointOptions<Item, Context>,
): (request: HttpRequest<Context>) => Promise<HttpResponse> {
  const {
    source,
    visible,
    resource,
    attributes: types,
    filtering = true,
    maxLimit = Infinity,
  } = options
  const attributes = declaredAttributes(types)
  const parse = (query: string) => parseQuery(query, { attributes: types, maxLimit, strict: true })

  const toResource = typeof resource === 'function' ? resource : resourceOf(resource, types)

  return async (request) => {
    const { context } = request
    // Outside: what is wrong with these is the host's fault, not the client's.
    const all = typeof source === 'function' ? await source(context) : source
    const allowed = parseVisible(await visible?.(context), types)
    try {
      checkAccept(request.header('accept'))
      if (!filtering) refuseParameters(request.query)
      const query = parse(request.query)
      const where = bothOf(allowed, query.where)
      const restricted = { ...query, where }
      const items = 'rows' in all ? all.rows(restricted, types) : all
      const { items: selected, truncated } = await selectItems(items, attributes, restricted)
      const self = request.query === '' ? request.path : `${request.path}?${request.query}`
      const data = selected.map((item) => toResource(item))
      const body = JSON.stringify({ jsonapi, data, links: { self } })
      return await finalizeResponse(request, jsonResponse(truncated ? 206 : 200, body))
    } catch (error) {
      return errorResponse(error)
    }
  }
}
