const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y

/** The records of a CSV file; throws if the file does not follow RFC 4180 exactly. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  CELL.lastIndex = 0
  while (CELL.lastIndex < text.length) {
    const at = CELL.lastIndex
    const match = CELL.exec(text)
    if (!match) throw new Error(`no cell at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`)
    const [, quoted, plain = '', end] = match
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    if (record.length !== (records[0] ?? record).length)
      throw new Error(`record ${records.length} has ${record.length} cells`)
    records.push(record)
    record = []
  }
  if (record.length > 0) throw new Error('the last record does not end')
  return records
}
