import fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { generatedDocs } from '../support/docs.js'

it.each([...generatedDocs()].map(([file, text]) => [path.basename(file), file, text]))(
  '%s says what the code says (npm run docs)',
  (_name, file, text) => {
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
  },
)
