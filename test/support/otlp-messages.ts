import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

/* Reads OTLP in its JSON encoding as the corresponding protobuf messages. */

const folder = fileURLToPath(new URL('../fixtures/opentelemetry/proto/', import.meta.url))
const root = new protobuf.Root()
root.resolvePath = (_, target) => folder + target.replace(/^opentelemetry\/proto\//, '')
root.loadSync('opentelemetry/proto/collector/logs/v1/logs_service.proto')
const Request = root.lookupType('opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest')

/** OTLP writes these bytes as hexadecimal digits; the JSON of protobuf uses base64. */
const HEX = new Set(['traceId', 'spanId'])

type Json = Readonly<Record<string, unknown>>

function toProtobufJson(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => toProtobufJson(element))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, toProtobufJson(member, name)]),
    )
  return HEX.has(key) ? Buffer.from(value as string, 'hex').toString('base64') : value
}

export interface DecodedRequest {
  /** The JSON of the bytes. It equals the original JSON if nothing was lost. */
  readonly json: Json
  readonly bytes: Uint8Array
}

/** Encodes the request to bytes, and decodes the bytes. Throws if the request does not fit the messages. */
export function throughProtobuf(request: object): DecodedRequest {
  const message = Request.fromObject(toProtobufJson(request) as Json)
  const bytes = Request.encode(message).finish()
  const json = Request.toObject(Request.decode(bytes), { longs: String, bytes: String })
  return { json: withHexIds(json) as Json, bytes }
}

function withHexIds(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => withHexIds(element))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, withHexIds(member, name)]),
    )
  return HEX.has(key) ? Buffer.from(value as string, 'base64').toString('hex') : value
}

const isDefault = (name: string, value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (name === 'key' && value === '')

/** In protobuf, an empty list equals a missing list, and an empty key equals a missing key. */
export function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name, member]) => !isDefault(name, member))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDefaults(member)]))
}

/** The greatest depth of nested messages. */
export function messageDepth(bytes: Uint8Array): number {
  const depthOf = (type: protobuf.Type, message: Json): number =>
    1 +
    Math.max(
      0,
      ...type.fieldsArray.flatMap((field) => {
        const { name, resolvedType } = field.resolve()
        const value = message[name]
        if (!(resolvedType instanceof protobuf.Type) || value === undefined || value === null)
          return []
        return [value].flat().map((one) => depthOf(resolvedType, one as Json))
      }),
    )
  return depthOf(Request, Request.decode(bytes))
}
