import { DISPOSE } from '../async/disposal.js'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeoutSignal } from '../async/timeout-signal.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import { bothOf } from '../filter/ast.js'
import type { AttributeTypes } from '../filter/attribute-types.js'
import {
  attributesReader,
  checkItems,
  declaredAttributes,
  type ItemAttributeTypes,
  readAttribute,
} from '../filter/declared.js'
import { parseQuery } from '../filter/parse.js'
import { createTimeSlices } from '../filter/time-slices.js'
import { QUERY_TIMEOUT_OPTIONS, readQueryTimeout } from '../store/query-timeout.js'
import { type ListSource, selectItems } from '../lists/list-source.js'
import type { HttpRequest, HttpResponse } from './exchange.js'
import { finalizeResponse } from './finalize-response.js'
import { checkAccept, jsonResponse } from './media.js'
import { refuseParameters } from './parameters.js'
import { errorResponse, jsonapi } from './problem.js'
import { checkHostFunctions } from './host-functions.js'
import { rethrow } from './thrown-error.js'
import { type Concealed, readNames } from '../filter/conceal.js'
import { parseVisible, type Visible } from '../filter/visible-filter.js'
import { checkNamed, type OptionNames, requireOptions } from '../options.js'

type PerRequest<Context, Value> = (context: Context) => Value | Promise<Value>

/** `Context` is the request object of the HTTP server. */
export interface ListEndpointOptions<Item extends object, Context> {
  /**
   * The items, or a function that returns them for a request: an array, another iterable or async
   * iterable, or a table (`sqliteTable`, `postgresTable`). An iterable that can be consumed only once, such
   * as a generator, must be returned by a function. Errors go to the host's error handling.
   */
  readonly source: ListSource<Item> | PerRequest<Context, ListSource<Item>>
  /**
   * A filter that is added to the query of each request, such as `{ owner_eq: 'ann' }`, or `'all'`. A
   * filter without conditions is an error that goes to the host's error handling.
   * @default everything is visible
   */
  readonly visible?: PerRequest<Context, Visible>
  /**
   * Names of declared attributes that the user must not see. The resource objects do not have them, and a query that names one is 400.
   * An attribute that leads to the same data, as `change` and `change_name` do, is concealed too. Anything but a list of declared names is an error that
   * goes to the host's error handling. Needs a `resource` that is a type: a function chooses the attributes itself.
   * @default nothing is concealed
   */
  readonly conceal?: PerRequest<Context, Concealed>
  /**
   * The attributes that a query can use in addition to `id`, with their types. Their values are read
   * from the properties of the same name, or from where a path leads: `change_name` from the member `name`
   * of `change`. Below an attribute of the type `object` a query reaches all nested data.
   */
  readonly attributes: ItemAttributeTypes<Item>
  /**
   * The resource type of the items, whose resource objects then contain `id` and the declared
   * attributes; or a function that returns the resource object (JSON:API 1.1, "Resource Objects") of an
   * item.
   */
  readonly resource: string | ((item: Item) => object)
  /**
   * If false, the list accepts no query parameters and responds 400 to any.
   * @default true
   */
  readonly filtering?: boolean
  /**
   * Maximum number of items in a response; its status is 206 if there are more.
   * @default Infinity
   */
  readonly maxLimit?: number
  /**
   * The time limit of a list in milliseconds, from the first item that is read to the last that is written. The
   * response to one that exceeds it is 503 with the code `QUERY_TIMEOUT`.
   * @default 10000
   */
  readonly queryTimeoutMs?: number
}

const LIST_ROUTE_OPTIONS: OptionNames<ListEndpointOptions<object, unknown>> = {
  source: true,
  visible: true,
  conceal: true,
  attributes: true,
  resource: true,
  filtering: true,
  maxLimit: true,
  ...QUERY_TIMEOUT_OPTIONS,
}

/** The response to a client that has disconnected. An error status would be recorded as a failed request. */
const UNREAD: HttpResponse = { status: 200, headers: {}, body: '' }

/** Ends a list when its client has disconnected, or its time is over. */
interface ListLimits extends Disposable {
  readonly signal: AbortSignal
  /** Throws `ABORTED` or `QUERY_TIMEOUT`. */
  readonly check: () => void
}

function limitsOf(client: AbortSignal, timeoutMs: number): ListLimits {
  const wait = timeoutSignal(timeoutMs, client)
  return {
    signal: wait.signal,
    check: () => {
      throwIfAborted(client)
      if (wait.signal.aborted)
        throw new AuditLogError('QUERY_TIMEOUT', `the list took longer than ${timeoutMs} ms`)
    },
    [DISPOSE]: () => wait[DISPOSE](),
  }
}

/** The JSON texts of the items, written in turns of the event loop. */
async function writeItems<Item>(
  items: readonly Item[],
  toResource: (item: Item) => object,
  check: () => void,
): Promise<string> {
  const slices = createTimeSlices(async () => {
    await nextTurn()
    check()
  })
  const texts: string[] = []
  for (const item of items) {
    texts.push(JSON.stringify(toResource(item)))
    if (slices.isOver()) await slices.next()
  }
  return texts.join(',')
}

function resourceOf(type: string, types: AttributeTypes): (item: object) => object {
  const attributesOf = attributesReader(types)
  return (item) => ({
    type,
    id: readAttribute((item as Readonly<Record<string, unknown>>)['id'], 'string'),
    attributes: attributesOf(item),
  })
}

/** The declared attributes that are left. Throws `INVALID_OPTION` for names that are not declared. */
function withoutConcealed(types: AttributeTypes, concealed: Concealed): AttributeTypes {
  const names = readNames(concealed)
  const unknown = names.find((name) => !Object.hasOwn(types, name))
  if (unknown !== undefined)
    throw new AuditLogError(
      'INVALID_OPTION',
      `conceal: ${unknown} is not in attributes of the list`,
    )
  const leadsInto = (name: string, other: string): boolean =>
    name === other || name.startsWith(`${other}_`) || other.startsWith(`${name}_`)
  const shown = Object.entries(types).filter(
    ([name]) => !names.some((concealedName) => leadsInto(name, concealedName)),
  )
  return Object.fromEntries(shown)
}

/**
 * Handles `GET` and `HEAD` of a list as the interface's section "List endpoints (general rules)" requires,
 * independently of the HTTP server. Responds 200, 206 if there are more items than the limit, 400 for
 * an invalid query, or 503 after `queryTimeoutMs`. Ends the list when the client has disconnected. Errors
 * of the source are rethrown; see `thrownError`. Throws `INVALID_OPTION` for unknown types or an invalid time limit, and if
 * the source is an array with nested data in an attribute that is not declared as `object`.
 */
export function listEndpoint<Item extends object, Context>(
  options: ListEndpointOptions<Item, Context>,
): (request: HttpRequest<Context>) => Promise<HttpResponse> {
  requireOptions(options, LIST_ROUTE_OPTIONS, 'listRoute')
  const {
    source,
    visible,
    conceal,
    resource,
    attributes: types,
    filtering = true,
    maxLimit = Infinity,
  } = options
  if (source === undefined || source === null)
    throw new AuditLogError('INVALID_OPTION', 'listRoute: source must be items, or return items')
  if (typeof resource !== 'string' && typeof resource !== 'function')
    throw new AuditLogError('INVALID_OPTION', 'listRoute: resource must be a type, or a function')
  checkNamed(types ?? null, 'attributes')
  const queryTimeoutMs = readQueryTimeout(options)
  checkHostFunctions(options, 'visible', 'conceal')
  if (conceal && typeof resource === 'function')
    throw new AuditLogError(
      'INVALID_OPTION',
      'listRoute: conceal needs a resource that is a type; a function chooses the attributes itself',
    )
  const attributes = declaredAttributes(types)
  if (Array.isArray(source)) checkItems(source as readonly object[], types)
  const parse = (query: string, shown: AttributeTypes) =>
    parseQuery(query, { attributes: shown, maxLimit })

  const toResource = typeof resource === 'function' ? resource : resourceOf(resource, types)

  const answer = async (request: HttpRequest<Context>): Promise<HttpResponse> => {
    const { context } = request
    // Outside `try`: an error here is the fault of the host, not of the client.
    const all = typeof source === 'function' ? await source(context) : source
    const allowed = visible && parseVisible(await visible(context), types)
    const shown = conceal ? withoutConcealed(types, await conceal(context)) : types
    try {
      checkAccept(request.header('accept'))
      if (!filtering) refuseParameters(request.query)
      const query = parse(request.query, shown)
      const where = bothOf(allowed, query.where)
      const restricted = { ...query, where }
      const items = 'rows' in all ? all.rows(restricted, types) : all
      using limits = limitsOf(request.signal, queryTimeoutMs)
      const { check } = limits
      // A source that gives no further item does not delay the end.
      const selecting = selectItems(items, attributes, restricted, check)
      const { items: selected, truncated } = await untilAborted(selecting, limits.signal).catch(
        (error: unknown) => {
          check()
          throw error
        },
      )
      const self = request.query === '' ? request.path : `${request.path}?${request.query}`
      const make = conceal ? resourceOf(resource as string, shown) : toResource
      const data = await writeItems(selected, make, check)
      const body = `{"jsonapi":${JSON.stringify(jsonapi)},"data":[${data}],"links":${JSON.stringify({ self })}}`
      return await finalizeResponse(request, jsonResponse(truncated ? 206 : 200, body))
    } catch (error) {
      return request.signal.aborted ? UNREAD : errorResponse(error)
    }
  }
  return (request) => answer(request).catch(rethrow)
}
