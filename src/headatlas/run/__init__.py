"""What every measurement needs: tokenised batches, interventions, and cells that survive a crash."""
