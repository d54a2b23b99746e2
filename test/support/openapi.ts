import type { IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { describeApi } from '../../src/http/events/openapi.js'
import { openApiDocument } from '../../src/http/openapi/document.js'
import { managementDocument } from '../../src/http/subscriptions/openapi.js'
import { viewsDocument } from '../../src/http/views/openapi.js'
import { jsonApiSchema, LINK_FORMAT } from './json-api-schema.js'

const JSON_API = 'application/vnd.api+json'
const JSON_LINES = 'application/x-ndjson'
const PARQUET = 'application/vnd.apache.parquet'

interface Reference {
  readonly $ref: string
}

interface Answer {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

interface Operation {
  readonly responses: Readonly<Record<string, Reference>>
}

/** The parts of an OpenAPI document that the tests use. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly parameters: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

export interface Answered {
  readonly method: string
  /** The request target, with the query. */
  readonly target: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The raw headers. */
  readonly bytes: Uint8Array
}

/** Throws if the endpoints do not declare the response. */
export type AnswerCheck = (answered: Answered) => void

export function strictAjv(options: Pick<Options, 'validateSchema'> = {}): Ajv2020 {
  // Optimizing the code of a schema takes longer than its few calls.
  const code = { optimize: false }
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, code, ...options })
  addFormats.default(ajv)
  const uriReference = fullFormats['uri-reference'] as RegExp
  ajv.addFormat(LINK_FORMAT, (link) =>
    uriReference.test(link.replaceAll(/[[\]]/g, encodeURIComponent)),
  )
  // Keywords of OpenAPI that JSON Schema does not have.
  ajv.addVocabulary(['components', 'x-attributes'])
  return ajv
}

const ajv = strictAjv()
const isJsonApi = ajv.compile(jsonApiSchema)

/** The ids of the components in a compiler. Components are compiled once for all schemas of a document. */
const componentIds = new WeakMap<Ajv2020, Map<object, string>>()

function idIn(compiler: Ajv2020, components: object): string {
  const ids = componentIds.get(compiler) ?? new Map<object, string>()
  componentIds.set(compiler, ids)
  const known = ids.get(components)
  if (known !== undefined) return known
  const id = `document:${ids.size}`
  compiler.addSchema({ $id: id, components })
  ids.set(components, id)
  return id
}

/** A schema of the document, which may refer to its components. */
export function compileIn(
  { components }: OpenApiDocument,
  schema: object,
  compiler = ajv,
): ValidateFunction {
  const id = idIn(compiler, components)
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${id}#/components/`)
  return compiler.compile(JSON.parse(text) as object)
}

export const describeEndpoints = (audit: EndpointAudit, path: string): OpenApiDocument =>
  JSON.parse(JSON.stringify(openApiDocument(describeApi({ audit, path })))) as OpenApiDocument

function hold(validate: ValidateFunction, value: unknown, what: string): void {
  if (validate(value)) return
  throw new Error(`${what}: ${ajv.errorsText(validate.errors)}`)
}

function textOf({ headers, bytes }: Answered): string {
  const coding = headers['content-encoding']
  if (coding === 'br') return brotliDecompressSync(bytes).toString()
  return (coding === 'gzip' ? gunzipSync(bytes) : Buffer.from(bytes)).toString()
}

/** Checks responses of endpoints mounted at these paths against a document. */
export function checkBy(document: OpenApiDocument, ...mounts: readonly string[]): AnswerCheck {
  const { responses } = document.components
  const validators = new Map<object, ValidateFunction>()
  const templates = Object.keys(document.paths).map((template) => {
    const [start = '', end] = template.split('{id}')
    const isMatch = (path: string): boolean =>
      end !== undefined &&
      path.startsWith(start) &&
      path.endsWith(end) &&
      /^[^/]+$/.test(path.slice(start.length, path.length - end.length))
    return { template, isMatch }
  })

  const templateOf = (path: string): string | undefined => {
    if (path in document.paths) return path
    const mount = path.replace(/\/$/, '')
    if (mounts.includes(mount)) return mount
    return templates.find(({ isMatch }) => isMatch(path))?.template
  }

  /** The names of the declared responses, by status. */
  const declaredFor = (method: string, path: string): Readonly<Record<string, Reference>> => {
    const template = templateOf(path)
    const item = template === undefined ? undefined : document.paths[template]!
    const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
    if (operation) return operation.responses
    const { 401: unknown, 429: tooMany } = document.paths[mounts[0]!]!['get']!.responses
    const status = item ? 405 : 404
    const own = { $ref: `#/components/responses/Problem${status}` }
    return { 401: unknown!, 429: tooMany!, [status]: own }
  }

  const checkBody = (answered: Answered, content: NonNullable<Answer['content']>): void => {
    const given = answered.headers['content-type'] ?? 'none'
    // Text types have a charset; JSON:API allows no parameters.
    const type = given.startsWith('text/') ? given.split(';', 1)[0]! : given
    const media = content[type]
    if (!media) throw new Error(`content-type ${given} is not declared`)
    if (answered.method === 'HEAD') {
      if (answered.bytes.length > 0) throw new Error('the response to HEAD has a body')
      return
    }
    if (type.startsWith('text/') || type === PARQUET) return
    const text = textOf(answered)
    const known = validators.get(media)
    const validate = known ?? compileIn(document, media.schema)
    validators.set(media, validate)
    if (type === JSON_LINES) {
      const lines = text.split('\n')
      if (lines.pop() !== '') throw new Error('the last line has no line break')
      for (const line of lines) hold(validate, JSON.parse(line), 'a line is not as declared')
      return
    }
    const value: unknown = JSON.parse(text)
    if (type === JSON_API) hold(isJsonApi, value, 'not JSON:API')
    hold(validate, value, 'not as declared')
  }

  const check = (answered: Answered, path: string): void => {
    const { method, status, headers, bytes } = answered
    const reference = declaredFor(method, path)[status]
    if (!reference) throw new Error(`status ${status} is not declared`)
    const answer = responses[reference.$ref.slice(reference.$ref.lastIndexOf('/') + 1)]!
    for (const [name, { required }] of Object.entries(answer.headers ?? {}))
      if (required && headers[name.toLowerCase()] === undefined)
        throw new Error(`the header ${name} is missing`)
    if (answer.content) checkBody(answered, answer.content)
    else if (bytes.length > 0) throw new Error('the response has an undeclared body')
  }

  return (answered) => {
    const { method, target, status, headers } = answered
    const [path = ''] = target.split('?', 1)
    if (!mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))) return
    // The server of the host responds to errors that the host's functions throw.
    if (status === 500 && headers['content-type'] !== JSON_API) return
    try {
      check(answered, path)
    } catch (error) {
      throw new Error(`${method} ${target} -> ${status}: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }
}

/** The OpenAPI document of the endpoints for subscriptions and channels under a path. */
export const describeSubscriptions = (path: string): OpenApiDocument =>
  JSON.parse(managementDocument(path)) as OpenApiDocument

const checks = new Map<string, AnswerCheck>()

/** The check with this key. It is created only once, because compiling its schemas takes long. */
function sharedCheck(key: string, create: () => AnswerCheck): AnswerCheck {
  const check = checks.get(key) ?? create()
  checks.set(key, check)
  return check
}

/** The check of responses of the endpoints that manage subscriptions and channels. */
export const managementCheck = (path: string): AnswerCheck =>
  sharedCheck(`subscriptions ${path}`, () =>
    checkBy(describeSubscriptions(path), `${path}/subscriptions`, `${path}/notification_channels`),
  )

/** The OpenAPI document of the endpoints for views at a path. */
export const describeViews = (path: string): OpenApiDocument =>
  JSON.parse(viewsDocument(path)) as OpenApiDocument

/** The check of responses of the endpoints of views. */
export const viewsCheck = (path: string): AnswerCheck =>
  sharedCheck(`views ${path}`, () => checkBy(describeViews(path), path))

/** The check of responses for a mount, shared by all logs, because event types do not affect responses. */
export const answerCheck = (audit: EndpointAudit, mount: string): AnswerCheck =>
  sharedCheck(`events ${mount}`, () => checkBy(describeEndpoints(audit, mount), mount))

/** All objects of a document, at any depth. */
export function* objectsIn(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (value === null || typeof value !== 'object') return
  yield value as Readonly<Record<string, unknown>>
  for (const member of Object.values(value)) yield* objectsIn(member)
}

/** Compiles each schema of the document in strict mode. Returns their number. Throws for an invalid schema. */
export function compileAll(document: OpenApiDocument): number {
  const schemas = [...objectsIn(document)].flatMap(({ schema }) => (schema ? [schema] : []))
  const all = [...schemas, ...Object.values(document.components.schemas)] as object[]
  // Otherwise all components would be checked again with each schema.
  const compiler = strictAjv({ validateSchema: false })
  for (const schema of all) {
    if (compiler.validateSchema(schema) !== true)
      throw new Error(`no valid schema: ${compiler.errorsText()}: ${JSON.stringify(schema)}`)
    compileIn(document, schema, compiler)
  }
  return all.length
}

/** The components to which the document refers, and the components that it contains. */
export function componentsOf(document: OpenApiDocument): {
  readonly referred: ReadonlySet<unknown>
  readonly defined: ReadonlySet<unknown>
} {
  const referred = new Set([...objectsIn(document)].flatMap(({ $ref }) => ($ref ? [$ref] : [])))
  // This response is for unsupported methods, so no path refers to it.
  referred.add('#/components/responses/Problem405')
  const defined = (['schemas', 'parameters', 'responses'] as const).flatMap((kind) =>
    Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
  )
  return { referred, defined: new Set(defined) }
}
