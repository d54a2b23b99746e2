import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serve } from './serve.js'

/* An agent in its container: runs until the service stops it, as the entry of its image says. */

const { entry } = JSON.parse(await readFile(join(process.argv[2], 'manifest.json'), 'utf8'))

if (entry === 'broken') throw new Error('the entry of the image is broken')
serve({ ping: () => 'pong' })
if (entry === 'vanish') setTimeout(() => process.exit(1), 1)
