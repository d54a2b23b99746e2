/*
 * Uploaded files, as parsers of multipart requests present them: multer, koa-body and formidable, @fastify/multipart,
 * express-fileupload, and the `File` of fetch. Their content is never read.
 */

/** A file in the event of a request. */
export interface RequestFile {
  /** The name of its field in the form. */
  readonly field: string
  /** As the client named it, or null. */
  readonly name: string | null
  /** The media type that the client gave, or null. */
  readonly type: string | null
  /** In bytes, or null if the host has not read the file. */
  readonly size: number | null
}

const MAX_FILES = 100
const MAX_TEXT = 255
/** A list, and lists by field, are the deepest containers. */
const MAX_DEPTH = 3

type Members = Readonly<Record<string, unknown>>

const textAmong = (value: Members, keys: readonly string[]): string | null => {
  const found = keys.map((key) => value[key]).find((text) => typeof text === 'string')
  return found === undefined ? null : found.slice(0, MAX_TEXT)
}

const NAMES = ['originalname', 'originalFilename', 'filename', 'name']
const TYPES = ['mimetype', 'type']

/** The size; of a file that the host reads as a stream, what it has read so far. */
function sizeOf({ size, file, _buf: buffer }: Members): number | null {
  const { bytesRead } = Object(file) as Members
  const { byteLength } = Object(buffer) as Members
  const bytes = size ?? bytesRead ?? byteLength
  return typeof bytes === 'number' && bytes >= 0 ? bytes : null
}

function fileOf(value: Members, field: string): RequestFile | undefined {
  const type = textAmong(value, TYPES)
  const size = sizeOf(value)
  if (type === null && size === null) return undefined
  const given = value['fieldname']
  return {
    field: typeof given === 'string' ? given.slice(0, MAX_TEXT) : field,
    name: textAmong(value, NAMES),
    type,
    size,
  }
}

/** The files in what a parser has set: a file, a list, or lists by field. At most 100, each once. */
export function requestFiles(given: unknown): readonly RequestFile[] {
  const files = new Map<object, RequestFile>()
  const read = (value: unknown, field: string, depth: number): void => {
    if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return
    if (files.size >= MAX_FILES || files.has(value)) return
    if (Array.isArray(value)) return value.forEach((one) => read(one, field, depth + 1))
    const file = fileOf(value as Members, field)
    if (file) files.set(value, file)
    else
      for (const [key, one] of Object.entries(value)) read(one, key.slice(0, MAX_TEXT), depth + 1)
  }
  read(given, '', 0)
  return [...files.values()]
}
