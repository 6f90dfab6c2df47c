//! Claims of agents on places in front of boards, and the queues for them: an agent claims a place when it sets out,
//! and releases it when it leaves.

use std::collections::BTreeMap;

use bevy::ecs::resource::Resource;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::obstacles::Obstacles;
use super::slots::{Slot, WAITING_PLACES, place, reading_places, waiting_place};
use crate::base::{AgentKey, ElementKey};

/// The destination of an agent that wants to read a board.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Destination {
    /// To a place of its own.
    Place(Vec2),
    /// All places are taken, so it waits in the queue or where it is.
    Wait {
        /// Its position in the queue, from 0.
        number: usize,
        /// Its place in the queue, if there is one.
        at: Option<Vec2>,
    },
}

/// The taken places of one board, and the queue of waiting agents.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Board {
    taken: Vec<(AgentKey, Slot)>,
    waiting: Vec<AgentKey>,
}

/// The claims of all agents, by board.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Claims {
    boards: BTreeMap<ElementKey, Board>,
    /// The taken seats by position, with their agents.
    seats: Vec<(AgentKey, Vec2)>,
}

impl Claims {
    /// Claims a place in front of a board for an agent at `from`, or the end of the queue. An earlier claim there is
    /// released first.
    pub fn claim(
        &mut self,
        board: (ElementKey, Vec2),
        agent: AgentKey,
        from: Vec2,
        obstacles: &Obstacles,
    ) -> Destination {
        self.release(board.0, agent);
        let claims = self.boards.entry(board.0).or_default();
        if claims.waiting.is_empty()
            && let Some(slot) = claims.free_slot(board.1, from, obstacles)
        {
            claims.taken.push((agent, slot));
            return Destination::Place(place(board.1, slot));
        }
        let number = claims.waiting.len();
        claims.waiting.push(agent);
        Destination::Wait { number, at: waiting_place(board.1, number, obstacles) }
    }

    /// Releases an agent's claim in front of a board.
    pub fn release(&mut self, board: ElementKey, agent: AgentKey) {
        if let Some(claims) = self.boards.get_mut(&board) {
            claims.taken.retain(|(holder, _)| *holder != agent);
            claims.waiting.retain(|waits| *waits != agent);
            if claims.taken.is_empty() && claims.waiting.is_empty() {
                self.boards.remove(&board);
            }
        }
    }

    /// The reserved place of an agent in front of a board at this position.
    pub fn place_of(&self, board: (ElementKey, Vec2), agent: AgentKey) -> Option<Vec2> {
        let claims = self.boards.get(&board.0)?;
        claims.taken.iter().find(|(holder, _)| *holder == agent).map(|(_, slot)| place(board.1, *slot))
    }

    /// The nearest unreserved place in front of a board, for an agent that only passes by.
    pub fn free_place(&self, board: (ElementKey, Vec2), from: Vec2, obstacles: &Obstacles) -> Option<Vec2> {
        let nobody = Board::default();
        let slot = self.boards.get(&board.0).unwrap_or(&nobody).free_slot(board.1, from, obstacles)?;
        Some(place(board.1, slot))
    }

    /// Whether another agent has a seat, or is on the way to it.
    pub fn is_seat_taken(&self, seat: Vec2, but: AgentKey) -> bool {
        self.seats.iter().any(|(holder, at)| *holder != but && *at == seat)
    }

    /// Claims a seat for an agent; its earlier seat is released.
    pub fn take_seat(&mut self, seat: Vec2, agent: AgentKey) {
        self.seats.retain(|(holder, _)| *holder != agent);
        self.seats.push((agent, seat));
    }

    /// Keeps the seats for which this holds.
    pub fn retain_seats(&mut self, keep: impl Fn(AgentKey, Vec2) -> bool) {
        self.seats.retain(|(holder, seat)| keep(*holder, *seat));
    }

    /// All agents that have a place or wait for one, by board.
    pub fn held(&self) -> Vec<(ElementKey, AgentKey)> {
        let of = |(board, claims): (&ElementKey, &Board)| {
            let all = claims.taken.iter().map(|(agent, _)| *agent).chain(claims.waiting.iter().copied());
            all.map(|agent| (*board, agent)).collect::<Vec<_>>()
        };
        self.boards.iter().flat_map(of).collect()
    }

    /// The boards with a queue.
    pub fn boards_with_queue(&self) -> Vec<ElementKey> {
        self.boards.iter().filter(|(_, claims)| !claims.waiting.is_empty()).map(|(board, _)| *board).collect()
    }

    /// Moves the queue in front of a board up. Returns the new places of all agents that move.
    pub fn move_up(&mut self, board: (ElementKey, Vec2), obstacles: &Obstacles) -> Vec<(AgentKey, Destination)> {
        let Some(claims) = self.boards.get_mut(&board.0) else { return Vec::new() };
        let mut moved = Vec::new();
        while !claims.waiting.is_empty()
            && let Some(slot) =
                claims.free_slot(board.1, waiting_place(board.1, 0, obstacles).unwrap_or(board.1), obstacles)
        {
            let agent = claims.waiting.remove(0);
            claims.taken.push((agent, slot));
            moved.push((agent, Destination::Place(place(board.1, slot))));
        }
        if !moved.is_empty() {
            // Agents beyond the queue's places wait where they are.
            let rest = claims.waiting.iter().enumerate().take(WAITING_PLACES);
            moved.extend(rest.map(|(number, agent)| {
                (*agent, Destination::Wait { number, at: waiting_place(board.1, number, obstacles) })
            }));
        }
        moved
    }
}

impl Board {
    fn free_slot(&self, board: Vec2, from: Vec2, obstacles: &Obstacles) -> Option<Slot> {
        let is_taken = |slot: &Slot| self.taken.iter().any(|(_, taken)| taken == slot);
        reading_places(board, from, obstacles).into_iter().find(|slot| !is_taken(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: (ElementKey, Vec2) = (ElementKey(1), Vec2::ZERO);

    fn full() -> (Claims, Vec<Destination>) {
        let mut claims = Claims::default();
        let turns = (0..30)
            .map(|agent| claims.claim(BOARD, AgentKey(agent), Vec2::new(0.0, -400.0), &Obstacles::default()))
            .collect();
        (claims, turns)
    }

    #[test]
    fn every_agent_has_its_own_place_and_the_rest_queue() {
        let (claims, turns) = full();
        let places: Vec<Vec2> = turns
            .iter()
            .filter_map(|turn| match turn {
                Destination::Place(at) => Some(*at),
                Destination::Wait { .. } => None,
            })
            .collect();
        for (index, place) in places.iter().enumerate() {
            assert!(!places[index + 1..].contains(place), "{place} is taken twice");
        }
        let waits = turns[places.len()..].iter().enumerate();
        assert!(waits.clone().count() > 7);
        for (expected, turn) in waits {
            assert!(
                matches!(turn, Destination::Wait { number, at } if *number == expected && at.is_some() == (expected < 7))
            );
        }
        assert_eq!(claims.held().len(), 30);
    }

    #[test]
    fn the_queue_moves_up_in_order_when_an_agent_leaves() {
        let (mut claims, turns) = full();
        let seated = turns.iter().filter(|turn| matches!(turn, Destination::Place(_))).count() as u32;
        let Destination::Place(freed) = turns[3] else { panic!("the fourth has a place") };
        assert!(claims.move_up(BOARD, &Obstacles::default()).is_empty(), "nothing is free");
        claims.release(BOARD.0, AgentKey(3));
        let moved = claims.move_up(BOARD, &Obstacles::default());
        assert_eq!(moved[0], (AgentKey(seated), Destination::Place(freed)));
        assert!(matches!(moved[1], (agent, Destination::Wait { number: 0, .. }) if agent == AgentKey(seated + 1)));
        assert_eq!(claims.place_of(BOARD, AgentKey(seated)), Some(freed));
        for agent in 0..30 {
            claims.release(BOARD.0, AgentKey(agent));
        }
        assert_eq!(claims, Claims::default(), "nothing is left behind");
    }

    #[test]
    fn an_agent_has_at_most_one_seat() {
        let (mut claims, seats) = (Claims::default(), [Vec2::ZERO, Vec2::new(50.0, 0.0)]);
        claims.take_seat(seats[0], AgentKey(1));
        assert!(claims.is_seat_taken(seats[0], AgentKey(2)) && !claims.is_seat_taken(seats[0], AgentKey(1)));
        claims.take_seat(seats[1], AgentKey(1));
        assert!(!claims.is_seat_taken(seats[0], AgentKey(2)), "it has the other now");
        claims.retain_seats(|_, _| false);
        assert_eq!(claims, Claims::default());
    }

    #[test]
    fn newcomers_join_the_end_of_the_queue() {
        let (mut claims, _) = full();
        claims.release(BOARD.0, AgentKey(0));
        let late = claims.claim(BOARD, AgentKey(99), Vec2::ZERO, &Obstacles::default());
        assert!(matches!(late, Destination::Wait { number, .. } if number > 0));
    }
}
