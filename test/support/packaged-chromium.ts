import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { LaunchOptions } from 'playwright-core'
import manifest from '../../package.json' with { type: 'json' }

/*
 * @sparticuz/chromium contains the browser, its libraries and fonts. Nothing is downloaded, and the machine needs
 * none of them. It is unpacked once for each version and user.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const version = manifest.devDependencies['@sparticuz/chromium']

/** The package unpacks into TMPDIR, and unpacks its libraries only if it detects AWS Lambda. */
async function unpack(directory: string): Promise<void> {
  const code = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: { ...process.env, TMPDIR: directory, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
  })
}

/** Without this configuration Chromium looks for fonts only in /tmp/fonts and shows no text. */
const fontsIn = (directory: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${directory}/fonts/fonts</dir>
  <cachedir>${directory}/fonts-cache</cachedir>
</fontconfig>
`

/** Unpacks into another folder and renames it, so that concurrent runs never see a partial browser. */
async function unpackOnce(directory: string): Promise<void> {
  if (fs.existsSync(directory)) return
  const fresh = fs.mkdtempSync(`${directory}-`)
  try {
    await unpack(fresh)
    fs.writeFileSync(path.join(fresh, 'fonts.conf'), fontsIn(directory))
    fs.renameSync(fresh, directory)
  } catch (error) {
    fs.rmSync(fresh, { recursive: true, force: true })
    // Another process was faster.
    if (!fs.existsSync(directory)) throw error
  }
}

/** The launch options; `undefined` on platforms that the package does not support. */
export async function packagedChromium(): Promise<LaunchOptions | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const user = process.getuid?.() ?? 'user'
  const directory = path.join(os.tmpdir(), `daybook-chromium-${version}-${user}`)
  await unpackOnce(directory)
  const libraries = [path.join(directory, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH'] ?? '']
  return {
    executablePath: path.join(directory, 'chromium'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      LANG: 'C.UTF-8',
      FONTCONFIG_FILE: path.join(directory, 'fonts.conf'),
      LD_LIBRARY_PATH: libraries.filter((part) => part !== '').join(':'),
    },
  }
}
