/* Trials: algorithms that take turns at one place within one run, so that the same noise affects
 * the measurements of all.
 *
 *     operation[@site][~communicator][[bytes]]=algorithm[(...)]|algorithm[(...)]|...
 *
 * The left side is a rule's and names one operation; what stands between the bars are the trial's
 * arms. Arms are numbered from 1 through all trials. Trials come before all rules.
 *
 * The calls of a communicator are divided into blocks of equally many collectives. Each block runs
 * one arm. A round has as many blocks as there are arms: each arm has one turn, in an order drawn
 * for the round. The arm of a block follows from the block's number, the seed and the arms that run
 * on the communicator, so all ranks choose the same arm without communication.
 *
 * Arms whose algorithm does not run on a communicator have no turns there. Where fewer than two are
 * left there is no trial, and rules decide.
 *
 * Thread-safe once the ruleset is made; nothing here allocates or logs but the parsing.
 */
#ifndef SG_RULE_TRIAL_H
#define SG_RULE_TRIAL_H

#include "rule/rule.h"

int sg_trial_count(const struct sg_ruleset *rules);
int sg_trial_arms(const struct sg_ruleset *rules);
/* By an arm's number: its trial's, from 0; its trial's left side; its own right side. */
int sg_trial_of(const struct sg_ruleset *rules, int arm);
const char *sg_trial_pattern(const struct sg_ruleset *rules, int trial);
const char *sg_trial_arm_text(const struct sg_ruleset *rules, int arm);
/* Numbers of a trial's arms: [first, first + count). */
void sg_trial_range(const struct sg_ruleset *rules, int trial, int *first, int *count);
/* Whether an arm has turns on a communicator. False for all arms of a trial where it is none. */
bool sg_trial_takes(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm);
/* Whether an arm's algorithm would run there, though its trial be none. */
bool sg_trial_runs(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm);
/* Whether calls like this are the trial's, on a communicator on which it is one. */
bool sg_trial_matches(const struct sg_ruleset *rules, int trial, enum sg_operation operation,
                      const struct sg_rule_site *site, const struct sg_rule_comm *comm,
                      uint64_t bytes);
/* The arm whose turn it is, of the trial that a matched choice stands for. */
const struct sg_choice *sg_trial_turn(const struct sg_ruleset *rules,
                                      const struct sg_choice *matched,
                                      const struct sg_rule_comm *comm, uint32_t seed,
                                      uint64_t block);
/* The order of turns: which of so many arms (at most SG_TRIAL_ARMS_MAX) block number block has,
 * from 0. Each arm once in every round; orders of rounds and trials are independent of each other.
 */
int sg_trial_order(uint32_t seed, int trial, uint64_t block, int arms);

#endif
