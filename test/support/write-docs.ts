import fs from 'node:fs'
import { generatedDocs } from './docs.js'

for (const [file, text] of generatedDocs()) fs.writeFileSync(file, text)
