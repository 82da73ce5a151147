// The groups of a run, from its settings.
import type { BenchGroup } from './bench.js'
import { appendGroup } from './groups/append.js'
import { coldGroup } from './groups/cold.js'
import { costGroup } from './groups/costs.js'
import { equalGroup } from './groups/equal.js'
import { fitGroup } from './groups/fit.js'
import { generatorGroup } from './groups/generator.js'
import { growthGroups } from './groups/growth.js'
import { halfGroup } from './groups/half.js'
import { contentionGroup, plainGroup, sizeGroup, throughputGroup } from './groups/paper.js'
import { peerGroup } from './groups/peers.js'
import { profileGroup } from './groups/profile.js'
import { simulatedGroup } from './groups/simulated.js'
import { startGroup } from './groups/start.js'
import { worstGroup } from './groups/worst.js'
import { VARIANTS } from './groups/variants.js'
import type { Part, Settings } from './presets.js'
import { matches, peerWorkloads } from '../src/bench/load/workloads.js'

/** A profile needs many samples. */
const PROFILE_STRETCH = 3
/** What is cold at first gets warm: the mean of a longer time would be less of a cold one. */
const COLD_STRETCH = 4

export function planOf(settings: Settings): readonly BenchGroup[] {
  return settings.parts.flatMap((part) => groupsFor(part, settings))
}

function groupsFor(part: Part, settings: Settings): BenchGroup | readonly BenchGroup[] {
  const paper = { ...settings, ...settings.experiments, variants: VARIANTS }
  const scale = { items: settings.items, partitions: settings.partitions }
  switch (part) {
    case 'generator':
      return generatorGroup(settings)
    case 'start':
      return startGroup(settings)
    case 'cold':
      return coldGroup({ ...settings.cold, durationMs: settings.durationMs * COLD_STRETCH })
    case 'append':
      return appendGroup(settings)
    case 'worst':
      return worstGroup(settings)
    case 'peers': {
      const { operations } = settings
      const workloads = peerWorkloads(scale).filter(
        ({ name }) => operations.length === 0 || operations.some((each) => matches(name, each)),
      )
      return peerGroup({ ...settings, scale, workloads })
    }
    case 'equal':
      return equalGroup({ ...paper, rounds: paper.judgedRounds, scale })
    case 'half':
      return halfGroup({ ...paper, rounds: paper.judgedRounds, scale })
    case 'costs':
      return costGroup(paper)
    case 'profile':
      return profileGroup({ ...paper, durationMs: paper.durationMs * PROFILE_STRETCH, scale })
    case 'throughput':
      return throughputGroup(paper)
    case 'size':
      return sizeGroup(paper)
    case 'plain':
      return plainGroup(paper)
    case 'contention':
      return contentionGroup(paper)
    case 'fit':
      return fitGroup(paper)
    case 'simulated':
      return simulatedGroup(settings)
    case 'growth':
      return growthGroups({ ...paper, targets: settings.growing })
  }
}
