/** A buffer that bytes are appended to. */
export interface ByteWriter {
  data: Uint8Array
  length: number
}

export interface ByteReader {
  readonly data: Uint8Array
  at: number
}

// Eight bytes of seven bits hold every safe integer.
const MAX_LENGTH = 8

export const byteWriter = (): ByteWriter => ({ data: new Uint8Array(1024), length: 0 })

export const writtenBytes = ({ data, length }: ByteWriter): Uint8Array => data.slice(0, length)

export function reserve(writer: ByteWriter, count: number): void {
  if (writer.length + count <= writer.data.length) return
  const grown = new Uint8Array(Math.max(writer.data.length * 2, writer.length + count))
  grown.set(writer.data)
  writer.data = grown
}

/** Writes a non-negative integer: seven bits in each byte, lowest first, and the last byte below 128. */
export function putVarint(writer: ByteWriter, value: number): void {
  reserve(writer, MAX_LENGTH)
  const { data } = writer
  let rest = value
  while (rest > 127) {
    data[writer.length++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  data[writer.length++] = rest
}

export function takeVarint(reader: ByteReader): number {
  const { data } = reader
  let byte = data[reader.at++]!
  if (byte < 128) return byte
  let value = byte & 127
  let scale = 128
  do {
    byte = data[reader.at++]!
    value += (byte & 127) * scale
    scale *= 128
  } while (byte >= 128)
  return value
}
