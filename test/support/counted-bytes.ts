/** Random bytes that are the same in every log, so that all logs have the same ids. */
export function countedBytes(): (bytes: Uint8Array) => Uint8Array {
  let count = 0
  return (bytes) => {
    for (const i of bytes.keys()) bytes[i] = count++
    return bytes
  }
}
