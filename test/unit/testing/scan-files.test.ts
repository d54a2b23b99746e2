import fs from 'node:fs'
import zlib from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { canary, scanDeflated, scanFiles, wordsIn } from '../../support/scan-files.js'
import { tempDir } from '../../support/temp.js'

let temp: ReturnType<typeof tempDir>
beforeEach(() => {
  temp = tempDir()
})
afterEach(() => temp.remove())

const word = canary()
const others = Array.from({ length: 50 }, canary)

it.each<[form: string, content: string | Buffer]>([
  ['text', `before${word}after`],
  ['its first half', `${word.slice(0, 8)}\0\0\0`],
  ['its second half', `\0\0${word.slice(8)}`],
  ['UTF-16', Buffer.from(`x${word}`, 'utf16le')],
  ['hexadecimal', Buffer.from(word).toString('hex')],
  ...[0, 1, 2, 3, 4].map((before): [string, string] => [
    `base64 after ${before} bytes`,
    Buffer.from(`${'?'.repeat(before)}${word}${'!'.repeat(before)}`).toString('base64'),
  ]),
])('a word is found as %s', (_, content) => {
  fs.writeFileSync(temp.file('one'), content)
  expect(wordsIn(scanFiles(temp.dir, [word, ...others]))).toEqual([word])
})

it('a word is found in folders and in gzip', () => {
  fs.mkdirSync(temp.file('inner'))
  fs.writeFileSync(temp.file('inner/events.ndjson.gz'), zlib.gzipSync(`{"a":"${word}"}`))
  expect(scanFiles(temp.dir, [word])).toMatchObject([
    { file: temp.file('inner/events.ndjson.gz'), as: 'text' },
    { as: 'text' },
  ])
})

it('a word is found in a deflate stream among other bytes, also with a dictionary', () => {
  const dictionary = Buffer.from('a common beginning of texts: ')
  for (const options of [{}, { dictionary }]) {
    const stream = zlib.deflateRawSync(`a common beginning of texts: ${word}`, options)
    const data = Buffer.concat([Buffer.alloc(100, 7), stream, Buffer.alloc(100, 7)])
    expect(wordsIn(scanDeflated('data', data, [word, ...others], options.dictionary))).toEqual([
      word,
    ])
  }
})

it('nothing is found where no word is', () => {
  fs.writeFileSync(temp.file('one'), others.join(' '))
  expect(scanFiles(temp.dir, [word])).toEqual([])
})
