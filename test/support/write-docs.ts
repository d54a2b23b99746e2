import fs from 'node:fs'
import path from 'node:path'
import { generatedDocs } from './docs.js'

for (const [file, text] of await generatedDocs()) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}
