import type { FastifyRequest } from './fastify.js'

/*
 * Parts of multipart requests, as `@fastify/multipart` gives them to the host or puts them into the body. A file is a stream,
 * which only the host reads.
 */

interface Part {
  readonly type?: unknown
  readonly value?: unknown
  readonly filename?: unknown
  /** All parts so far by field; a list for several of one field. */
  readonly fields?: object
}

const partsOf = new WeakMap<object, Part[]>()

type Read = (...given: unknown[]) => unknown
type Reading = Record<'file' | 'files' | 'parts', Read | undefined>

/** Notes the parts that the host reads. */
export function noteParts(request: FastifyRequest): void {
  const reading = request as unknown as Reading
  const { file, files, parts } = reading
  const note = <Read>(part: Read): Read => {
    if (part) partsOf.get(request)!.push(part)
    return part
  }
  const noteEach = (read: Read): Read =>
    async function* (...given) {
      for await (const part of read.apply(request, given) as AsyncIterable<Part>) yield note(part)
    }
  if (typeof parts !== 'function') return
  partsOf.set(request, [])
  reading.parts = noteEach(parts)
  if (file) reading.file = async (...given) => note(await file.apply(request, given))
  if (files) reading.files = noteEach(files)
}

/** The files that the host has read. */
export const filesOf = (request: FastifyRequest): readonly object[] =>
  (partsOf.get(request) ?? []).filter(({ type }) => type === 'file')

const valueOf = (part: Part): unknown => (part.type === 'file' ? part.filename : part.value)

/** The body, with the values of fields and the names of files in place of parts. */
export function bodyOf(request: FastifyRequest): unknown {
  const fields = partsOf.get(request)?.at(-1)?.fields
  const { body } = request
  if (!fields || (body && body !== fields)) return body
  const values = Object.entries(fields).map(([name, part]: [string, Part | Part[]]) => [
    name,
    Array.isArray(part) ? part.map(valueOf) : valueOf(part),
  ])
  return Object.fromEntries(values)
}
