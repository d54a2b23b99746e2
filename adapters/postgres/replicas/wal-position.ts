/** Bytes of the write-ahead log up to a position such as `0/3000060`. */
export function walBytes(position: string): bigint {
  const [high, low] = position.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
