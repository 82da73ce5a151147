import { seriatim } from 'seriatim/vitest'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [
    seriatim({
      tables: 'template.yaml',
      parameters: { Stage: 'test' },
      seeds: 'seeds.json',
      fresh: 'test',
    }),
  ],
  test: { include: ['*.fresh.js'] },
})
